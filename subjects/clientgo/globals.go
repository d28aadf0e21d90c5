package clientgo

import (
	"context"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/features"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/subjects"
)

// Host runs a scenario on this subject inside a bubble of its own. It is a subjects.Host, and may not be called inside a bubble.
func Host(seed uint64, run func()) error {
	return bubble.Run(seed, bubble.Options{TakeOver: takeOver}, run)
}

// takeOver sets up the process-wide state that this subject needs besides that of every bubble: client-go's feature gates, which
// choose the queue and the watch-list, and what happens when something panics because the scenario says so. The bubble puts
// the panic handlers back.
func takeOver() (restore func()) {
	before := features.FeatureGates()
	gates = featureGates{next: before}
	features.ReplaceFeatureGates(&gates)
	surviveIntended()
	return func() { features.ReplaceFeatureGates(before) }
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
