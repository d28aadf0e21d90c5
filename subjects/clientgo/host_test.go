package clientgo

import (
	"strings"
	"testing"

	"k8s.io/client-go/features"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

func mustHost(t *testing.T, seed uint64, run func()) {
	t.Helper()
	if err := Host(seed, run); err != nil {
		t.Fatal(err)
	}
}

func TestFeatureGatesArePutBack(t *testing.T) {
	before := features.FeatureGates()
	var watchList, inOrder, other bool
	mustHost(t, 1, func() {
		gates.choose(subjects.QueueDelta, true)
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

func TestSubjectWithoutABubble(t *testing.T) {
	k := sim.NewKernel(sim.Options{Strategy: sim.NewFIFO()})
	s := New(subjects.Dependencies{Kernel: k, Cluster: fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{})})
	_, err := s.AddInformer(subjects.InformerSpec{Name: "i1"})
	if err == nil || !strings.Contains(err.Error(), "clientgo.Host") {
		t.Errorf("the error is %v; it should say what to do", err)
	}
}
