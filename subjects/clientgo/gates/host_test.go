package gates

import (
	"strings"
	"sync"
	"testing"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/client-go/features"
)

func mustHost(t *testing.T, seed uint64, run func()) {
	t.Helper()
	if err := Host(seed, 0, false, run); err != nil {
		t.Fatal(err)
	}
}

func TestFeatureGatesArePutBack(t *testing.T) {
	before := features.FeatureGates()
	var watchList, inOrder, other bool
	mustHost(t, 1, func() {
		choose("delta", true)
		g := features.FeatureGates()
		watchList, inOrder, other = g.Enabled(features.WatchListClient), g.Enabled(features.InOrderInformers), g.Enabled(features.InformerResourceVersion)
	})
	if !watchList || inOrder || !other {
		t.Errorf("watch-list %v, in order %v, what was not chosen %v", watchList, inOrder, other)
	}
	if features.FeatureGates() != before {
		t.Error("the gates were not restored")
	}
}

// client-go recovers panics of its goroutines. One of those that calls at the end of a run have started is told as what came of these calls, once.
func TestPanicsOfCallsAreTold(t *testing.T) {
	var o outcomes
	mustHost(t, 1, func() {
		before := panicked.Load()
		o.panics(before)
		var goroutine sync.WaitGroup
		goroutine.Go(func() {
			defer utilruntime.HandleCrash()
			panic("a filter is nil")
		})
		goroutine.Wait()
		o.panics(before)
		o.panics(panicked.Load())
	})
	if len(o.all) != 1 || o.all[0].Want != "no panic" || !strings.HasPrefix(o.all[0].Got, "panic: a filter is nil\n  in ") || strings.Contains(o.all[0].Got, "called by") {
		t.Errorf("told is %+v", o.all)
	}
}
