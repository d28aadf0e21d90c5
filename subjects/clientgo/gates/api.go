package gates

import (
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Where releases offer several functions that do the same, the oldest is called.

func newSharedInformer(i *informer) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(i.listerWatcher(), i.spec.Example, i.spec.Resync, cache.Indexers{cache.NamespaceIndex: i.observe})
}

func newStreamWatcher(d watch.Decoder, r watch.Reporter) watch.Interface {
	return watch.NewStreamWatcher(d, r)
}
