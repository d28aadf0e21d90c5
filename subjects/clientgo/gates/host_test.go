package gates

import (
	"testing"

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
