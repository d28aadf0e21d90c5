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
	switch q {
	case "delta":
		featuresNow.set[features.InOrderInformers] = false
	case "inorder":
		featuresNow.set[features.InOrderInformers], featuresNow.set[features.AtomicFIFO] = true, false
	case "atomic":
		featuresNow.set[features.InOrderInformers], featuresNow.set[features.AtomicFIFO] = true, true
	}
}

// StoreRevision returns the resourceVersion of an informer's Indexer. client-go checks its feature gates at every call.
func (g *Gates) StoreRevision(n int) string {
	i := g.informers[n]
	before := featuresNow.set
	defer func() { featuresNow.set = before }()
	choose(i.spec.Queue, i.spec.WatchList)
	return i.inf.GetIndexer().LastStoreSyncResourceVersion()
}
