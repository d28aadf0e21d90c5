//go:build !no_feature_gates

package gates

import "k8s.io/client-go/features"

// takeOverFeatures puts gates of ours before client-go's feature gates.
func takeOverFeatures() (restore func()) {
	before := features.FeatureGates()
	featuresNow = featureGates{next: before}
	features.ReplaceFeatureGates(&featuresNow)
	return func() { features.ReplaceFeatureGates(before) }
}

// featuresNow are client-go's feature gates during a run. client-go reads them when an informer is created and when it starts, both
// within a step.
var featuresNow featureGates

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
func choose(q string, watchList bool) {
	featuresNow.set = map[features.Feature]bool{features.WatchListClient: watchList}
	chooseQueue(featuresNow.set, q)
}
