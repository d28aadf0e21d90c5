package gates

import (
	"context"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

type registration = cache.ResourceEventHandlerRegistration

func newSharedInformer(i *informer) cache.SharedIndexInformer {
	return cache.NewSharedIndexInformerWithOptions(&cache.ListWatch{ListWithContextFunc: i.list, WatchFuncWithContext: i.open}, i.spec.Example,
		cache.SharedIndexInformerOptions{ResyncPeriod: i.spec.Resync, Indexers: cache.Indexers{cache.NamespaceIndex: i.observe}})
}

func setTransform(inf cache.SharedIndexInformer, f func(any) (any, error)) error {
	return inf.SetTransform(f)
}

func (i *informer) run() { i.inf.RunWithContext(i.loop) }

func addHandler(inf cache.SharedIndexInformer, h *handler, resync time.Duration) (registration, error) {
	return inf.AddEventHandlerWithOptions(h, cache.HandlerOptions{ResyncPeriod: &resync})
}

func removeHandler(inf cache.SharedIndexInformer, r registration) error {
	return inf.RemoveEventHandler(r)
}

func (h *handler) hasSynced() bool { return h.reg.HasSynced() }

// OnAdd implements cache.ResourceEventHandler.
func (h *handler) OnAdd(obj any, initial bool) { h.added(obj, initial) }

func newStreamWatcher(d watch.Decoder, r watch.Reporter) watch.Interface {
	return watch.NewStreamWatcherWithLogger(klog.Background(), d, r)
}

func survivePanics() {
	utilruntime.PanicHandlers = []func(context.Context, any){func(_ context.Context, r any) { recovered(r) }}
}
