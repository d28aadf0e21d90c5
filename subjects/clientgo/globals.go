package clientgo

import (
	"context"
	cryptorand "crypto/rand"
	"encoding/binary"
	"io"
	"math/rand"
	randv2 "math/rand/v2"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/features"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/subjects"
)

// takeOver sets the process-wide state that client-go reads up for a run, and returns what puts it back:
//
//   - math/rand's global source, from which backoffs, jitters and watch timeouts are drawn (k8s.io/apimachinery's wait,
//     tools/cache's reflector). It cannot be put back to what it was, so afterwards it has a random seed.
//   - crypto/rand.Reader, from which uids and names are made.
//   - utilruntime.ErrorHandlers: the default ones keep the time of the last error in a package variable and sleep until it is
//     a while ago, which in a later bubble is decades.
//   - utilruntime.PanicHandlers and ReallyCrash: see surviveIntended.
//   - klog, which would write to the terminal.
//   - the feature gates, which choose the queue and the watch-list.
func takeOver(seed uint64) (restore func()) {
	log := klog.CaptureState()
	klog.LogToStderr(false)
	klog.SetOutput(io.Discard)
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil
	panicHandlers, reallyCrash := utilruntime.PanicHandlers, utilruntime.ReallyCrash
	seedGlobal(subjects.SourceOf(seed))
	reader := cryptorand.Reader
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	cryptorand.Reader = &lockedReader{r: randv2.NewChaCha8(key)}
	before := features.FeatureGates()
	gates.next = before
	features.ReplaceFeatureGates(&gates)
	return func() {
		features.ReplaceFeatureGates(before)
		cryptorand.Reader = reader
		seedGlobal(int64(randv2.Uint64()))
		utilruntime.ErrorHandlers = handlers
		utilruntime.PanicHandlers, utilruntime.ReallyCrash = panicHandlers, reallyCrash
		log.Restore()
	}
}

// surviveIntended lets the process live on when a handler or a reconcile panics because the scenario says so. Other panics
// go on as they would.
func surviveIntended() {
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, r any) {
		if _, ok := r.(intended); !ok {
			panic(r)
		}
	}}
}

// lockedReader makes a generator usable from several goroutines, as crypto/rand.Reader is.
type lockedReader struct {
	mu sync.Mutex
	r  *randv2.ChaCha8
}

func (l *lockedReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}

// seedGlobal seeds the source that client-go draws from.
func seedGlobal(seed int64) {
	//lint:ignore SA1019 there is no other way to reach it
	rand.Seed(seed)
}

// gates are client-go's feature gates during a run. They are asked when an informer is made and when it starts, both within a step.
var gates featureGates

type featureGates struct {
	next features.Gates // for everything that is not chosen here
	set  map[features.Feature]bool
}

// Enabled implements features.Gates.
func (g *featureGates) Enabled(key features.Feature) bool {
	if on, ok := g.set[key]; ok {
		return on
	}
	return g.next.Enabled(key)
}

// choose sets the gates for the informer that is started next. Without a queue the informer gets client-go's default.
func (g *featureGates) choose(q subjects.Queue, watchList bool) {
	g.set = map[features.Feature]bool{features.WatchListClient: watchList}
	switch q {
	case subjects.QueueDelta:
		g.set[features.InOrderInformers] = false
	case subjects.QueueInOrder:
		g.set[features.InOrderInformers], g.set[features.AtomicFIFO] = true, false
	case subjects.QueueAtomic:
		g.set[features.InOrderInformers], g.set[features.AtomicFIFO] = true, true
	}
}
