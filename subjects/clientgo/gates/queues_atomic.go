//go:build !no_atomic

package gates

import "k8s.io/client-go/features"

func chooseQueue(set map[features.Feature]bool, q string) {
	switch q {
	case "delta":
		set[features.InOrderInformers] = false
	case "inorder":
		set[features.InOrderInformers], set[features.AtomicFIFO] = true, false
	case "atomic":
		set[features.InOrderInformers], set[features.AtomicFIFO] = true, true
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
