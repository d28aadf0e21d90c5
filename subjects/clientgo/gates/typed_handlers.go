//go:build !no_typed_handlers

package gates

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/subjects"
)

// object is the type of the objects of typed informers and handlers: whatever the scenario is about.
type object interface {
	runtime.Object
	metav1.Object
}

// typed puts typed handlers behind a typed filter, which are told of the initial list if they are detailed.
func (f *filter) typed(detailed bool) bool {
	deleted := func(d cache.DeletedObject[object]) {
		if d.FinalStateUnknown != nil {
			f.deleted(*d.FinalStateUnknown)
			return
		}
		f.deleted(d.OptionalObj)
	}
	updated := func(old, obj object) { f.updated(old, obj) }
	var behind cache.TypedResourceEventHandler[object]
	if detailed {
		behind = cache.TypedResourceEventHandlerDetailedFuncs[object]{
			AddFunc: func(obj object, initial bool) { f.added(obj, initial) }, UpdateFunc: updated, DeleteFunc: deleted,
		}
	} else {
		behind = cache.TypedResourceEventHandlerFuncs[object]{AddFunc: func(obj object) { f.added(obj, f.initial) }, UpdateFunc: updated, DeleteFunc: deleted}
	}
	f.handler = typedFilter{cache.TypedFilteringResourceEventHandler[object]{
		FilterFunc: func(obj object) bool { return subjects.FilterSelects(f.selector, obj) },
		Handler:    behind,
	}}
	return true
}

// typedFilter calls a typed handler as an untyped one.
type typedFilter struct {
	h cache.TypedResourceEventHandler[object]
}

func (t typedFilter) OnAdd(obj any, initial bool) {
	if o, ok := obj.(object); ok {
		t.h.OnAdd(o, initial)
	}
}

func (t typedFilter) OnUpdate(old, obj any) {
	before, knownBefore := old.(object)
	now, known := obj.(object)
	if knownBefore && known {
		t.h.OnUpdate(before, now)
	}
}

func (t typedFilter) OnDelete(obj any) {
	if u, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		last, _ := u.Obj.(object)
		t.h.OnDelete(cache.DeletedObject[object]{OptionalObj: last, FinalStateUnknown: &u})
		return
	}
	if o, ok := obj.(object); ok {
		t.h.OnDelete(cache.DeletedObject[object]{OptionalObj: o})
	}
}

// typedHandler is a handler that is added to a typed informer.
type typedHandler struct{ h *handler }

func (t typedHandler) OnAdd(obj object, initial bool) { t.h.OnAdd(obj, initial) }

func (t typedHandler) OnUpdate(old, obj object) { t.h.OnUpdate(old, obj) }

func (t typedHandler) OnDelete(d cache.DeletedObject[object]) {
	if d.FinalStateUnknown != nil {
		t.h.called(call{sort: DeleteUnknown, key: d.GetKey(), obj: d.FinalStateUnknown.Obj})
		return
	}
	t.h.called(call{sort: Delete, key: d.GetKey(), obj: d.OptionalObj})
}

// addTyped adds a handler by the informer's typed interface.
func addTyped(inf cache.SharedIndexInformer, h *handler, resync time.Duration) (registration, bool, error) {
	r, err := cache.NewTypedSharedIndexInformer[object](inf).AddTypedEventHandler(typedHandler{h}, cache.HandlerOptions{ResyncPeriod: &resync})
	return r, true, err
}
