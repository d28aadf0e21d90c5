package clientgo

import (
	"context"
	"errors"
	"sync/atomic"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/features"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/subjects"
)

// Host is a subjects.Host that makes a run inside a bubble of its own. It may not be called inside a bubble.
func Host(seed uint64, run func()) error {
	return HostWithin(bubble.DefaultQuiescenceTimeout)(seed, run)
}

// HostWithin is Host with another limit on the real time that a step may take to become quiescent.
func HostWithin(quiescence time.Duration) subjects.Host {
	return func(seed uint64, run func()) error {
		err := bubble.Run(seed, bubble.Options{TakeOver: takeOver, QuiescenceTimeout: quiescence}, run)
		var stuck *bubble.StuckError
		var leak *bubble.LeakError
		switch {
		case errors.As(err, &stuck):
			return &subjects.Failure{Kind: subjects.Hung, What: err.Error()}
		case errors.As(err, &leak):
			return &subjects.Failure{Kind: subjects.Leaked, What: err.Error()}
		case errors.Is(err, bubble.ErrRace):
			return &subjects.Failure{Kind: subjects.Raced, What: err.Error()}
		}
		return err
	}
}

// takeOver sets up the process-wide state that this subject needs in addition to every bubble's: client-go's feature gates, which
// choose the queue and the watch-list, and the handling of injected panics. The bubble restores the panic handlers.
func takeOver() (restore func()) {
	before := features.FeatureGates()
	gates = featureGates{next: before}
	features.ReplaceFeatureGates(&gates)
	survivePanics()
	return func() { features.ReplaceFeatureGates(before) }
}

// survivePanics makes the process survive panics that client-go recovers: those of handlers and reconciles that a scenario injects,
// and the first of any other, which ends the run. What client-go does not recover crashes the process as usual.
func survivePanics() {
	panicked.Store(nil)
	utilruntime.ReallyCrash = false
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, r any) {
		if _, ok := r.(injectedPanic); !ok {
			panicked.CompareAndSwap(nil, subjects.PanicOf(r))
		}
	}}
}

// panicked is the first panic of this run that was not injected.
var panicked atomic.Pointer[subjects.Failure]

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
