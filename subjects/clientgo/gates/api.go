package gates

import (
	"time"

	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// Where releases offer several functions that do the same, the oldest is called.

type registration = cache.ResourceEventHandlerRegistration

func newSharedInformer(i *informer) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformer(i.listerWatcher(), i.spec.Example, i.spec.Resync, cache.Indexers{cache.NamespaceIndex: i.observe})
}

func setTransform(inf cache.SharedIndexInformer, f func(any) (any, error)) error {
	return inf.SetTransform(f)
}

func addHandler(inf cache.SharedIndexInformer, h *handler, resync time.Duration) (registration, error) {
	return inf.AddEventHandlerWithResyncPeriod(h, resync)
}

func removeHandler(inf cache.SharedIndexInformer, r registration) error {
	return inf.RemoveEventHandler(r)
}

func (h *handler) hasSynced() bool { return h.reg.HasSynced() }

func newStreamWatcher(d watch.Decoder, r watch.Reporter) watch.Interface {
	return watch.NewStreamWatcher(d, r)
}
