package clientgo

import (
	"context"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/features"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/subjects"
)

// Host is a subjects.Host that makes a run inside a bubble of its own. It may not be called inside a bubble.
func Host(seed uint64, run func()) error {
	return bubble.Run(seed, bubble.Options{TakeOver: takeOver}, run)
}

// takeOver sets up the process-wide state that this subject needs in addition to every bubble's: client-go's feature gates, which
// choose the queue and the watch-list, and the handling of injected panics. The bubble restores the panic handlers.
func takeOver() (restore func()) {
	before := features.FeatureGates()
	gates = featureGates{next: before}
	features.ReplaceFeatureGates(&gates)
	surviveInjected()
	return func() { features.ReplaceFeatureGates(before) }
}

// surviveInjected makes the process survive injected panics of handlers and reconciles. Other panics crash it as usual.
func surviveInjected() {
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, r any) {
		if _, ok := r.(injectedPanic); !ok {
			panic(r)
		}
	}}
}

// gates are client-go's feature gates during a run. client-go reads them when an informer is created and when it starts, both
// within a step.
var gates featureGates

type featureGates struct {
	next features.Gates // for gates that are not set here
	set  map[features.Feature]bool
}

// Enabled implements features.Gates.
func (g *featureGates) Enabled(key features.Feature) bool {
	if on, ok := g.set[key]; ok {
		return on
	}
	return g.next.Enabled(key)
}

// choose sets the gates for the informer that is started next. If q is "", it gets client-go's default queue.
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
