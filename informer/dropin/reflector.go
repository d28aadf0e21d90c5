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

// NewReflector returns a reflector that keeps a store up to date while it runs.
func NewReflector(lw ListerWatcher, expectedType any, store ReflectorStore, resyncPeriod time.Duration) *Reflector {
	return NewReflectorWithOptions(lw, expectedType, store, ReflectorOptions{ResyncPeriod: resyncPeriod})
}

// NewNamedReflector is NewReflector with a name for messages.
func NewNamedReflector(name string, lw ListerWatcher, expectedType any, store ReflectorStore, resyncPeriod time.Duration) *Reflector {
	return NewReflectorWithOptions(lw, expectedType, store, ReflectorOptions{Name: name, ResyncPeriod: resyncPeriod})
}

// NewNamespaceKeyedIndexerAndReflector returns a store with an index by namespace and a reflector that keeps it up to date.
func NewNamespaceKeyedIndexerAndReflector(lw ListerWatcher, expectedType any, resyncPeriod time.Duration) (indexer Indexer, reflector *Reflector) {
	indexer = NewIndexer(MetaNamespaceKeyFunc, Indexers{NamespaceIndex: MetaNamespaceIndexFunc})
	return indexer, NewReflector(lw, expectedType, indexer, resyncPeriod)
}

// NewReflectorWithOptions returns a reflector. It lists and watches lw, writes the objects to the store, and drops those of
// another type than expectedType, unless that is nil. The result is client-go's type with this package's loop inside: see
// puppeteer.
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
		// The puppet backs off between rounds, with the same parameters; the loop's own rounds follow at once.
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

// delayFunc returns the delays before a watch is retried: client-go's default, or the caller's.
func delayFunc(custom *wait.Backoff, c clock.Clock) func() time.Duration {
	if custom != nil {
		return custom.DelayWithReset(c, backoffReset)
	}
	backoff := informer.NewBackoff(informer.BackoffOptions{}, c.Now())
	return func() time.Duration { return backoff.Next(c.Now(), random()) }
}

// backoffReset is the time without a delay after which the backoff restarts (I12).
const backoffReset = 2 * time.Minute

// callerName names a reflector after the line, outside of this package and client-go's, that created it.
func callerName() string { return naming.GetNameFromCallsite(packageDir, "client-go/tools/cache/") }

var packageDir = func() string {
	_, file, _, _ := goruntime.Caller(0)
	return filepath.ToSlash(filepath.Dir(file)) + "/"
}()
