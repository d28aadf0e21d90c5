package dropin

import (
	"path/filepath"
	goruntime "runtime"
	"time"

	"k8s.io/apimachinery/pkg/util/naming"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/tools/cache"
	"k8s.io/utils/clock"

	"github.com/informersim/informersim/informer"
)

// NewReflector makes a reflector that keeps a store up to date while it runs.
func NewReflector(lw ListerWatcher, expectedType any, store ReflectorStore, resyncPeriod time.Duration) *Reflector {
	return NewReflectorWithOptions(lw, expectedType, store, ReflectorOptions{ResyncPeriod: resyncPeriod})
}

// NewNamedReflector is NewReflector with a name for messages.
func NewNamedReflector(name string, lw ListerWatcher, expectedType any, store ReflectorStore, resyncPeriod time.Duration) *Reflector {
	return NewReflectorWithOptions(lw, expectedType, store, ReflectorOptions{Name: name, ResyncPeriod: resyncPeriod})
}

// NewNamespaceKeyedIndexerAndReflector makes a store with an index by namespace and a reflector that keeps it up to date.
func NewNamespaceKeyedIndexerAndReflector(lw ListerWatcher, expectedType any, resyncPeriod time.Duration) (indexer Indexer, reflector *Reflector) {
	indexer = NewIndexer(MetaNamespaceKeyFunc, Indexers{NamespaceIndex: MetaNamespaceIndexFunc})
	return indexer, NewReflector(lw, expectedType, indexer, resyncPeriod)
}

// NewReflectorWithOptions makes a reflector. It lists and watches lw, puts what comes into the store, and drops objects of
// another type than expectedType's, unless that is nil. What it returns is client-go's type with this package's loop inside:
// see puppeteer.
func NewReflectorWithOptions(lw ListerWatcher, expectedType any, store ReflectorStore, options ReflectorOptions) *Reflector {
	if options.Clock == nil {
		options.Clock = clock.RealClock{}
	}
	if options.Name == "" {
		options.Name = callerName()
	}
	p := &puppeteer{options: loopOptions{
		name:            options.Name,
		listerWatcher:   lw,
		expectedType:    expectedType,
		typeDescription: options.TypeDescription,
		store:           store,
		resyncPeriod:    options.ResyncPeriod,
		minWatchTimeout: options.MinWatchTimeout,
		streamLists:     streamsLists(lw),
		// The waits between rounds are the puppet's, with the same parameters; the loop's own rounds follow at once.
		backoff: informer.BackoffOptions{Initial: 1, Max: 1, Jitter: -1},
		clock:   options.Clock,
		rounds:  &roundOptions{delay: delayFunc(options.Backoff, options.Clock)},
	}}
	if options.TypeDescription == "" {
		options.TypeDescription = informer.NewReflector(informer.ReflectorOptions{ExpectedType: expectedType}).TypeDescription()
	}
	options.ResyncPeriod = 0 // the loop resyncs
	p.puppet = cache.NewReflectorWithOptions(p, nil, noStore{}, options)
	return p.puppet
}

// delayFunc gives the delays of a watch that is tried again: client-go's default, or the caller's.
func delayFunc(custom *wait.Backoff, c clock.Clock) func() time.Duration {
	if custom != nil {
		return custom.DelayWithReset(c, backoffReset)
	}
	backoff := informer.NewBackoff(informer.BackoffOptions{}, c.Now())
	return func() time.Duration { return backoff.Next(c.Now(), random()) }
}

// backoffReset is the time without a delay after which delays start small again (I12).
const backoffReset = 2 * time.Minute

// callerName names a reflector after the line, outside of this package and client-go's, that made it.
func callerName() string { return naming.GetNameFromCallsite(ownFolder, "client-go/tools/cache/") }

var ownFolder = func() string {
	_, file, _, _ := goruntime.Caller(0)
	return filepath.ToSlash(filepath.Dir(file)) + "/"
}()
