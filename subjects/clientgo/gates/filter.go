//go:build !no_handler_sync

package gates

import (
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/subjects"
)

// filter is client-go's filter in front of a handler that does nothing but note what it is called with. What an informer calls goes through it
// as well as to the gate, so that each call has an account of what would be told behind it.
type filter struct {
	selector labels.Selector
	handler  cache.ResourceEventHandler
	initial  bool // the call under way is an addition of the initial list
	passed   Passed
}

// newFilter makes the filter of an informer's nth handler. Those behind it are of all the kinds that client-go has: functions that are told of the
// initial list, functions that are not, and, where there are any, both with types.
func newFilter(n int) *filter {
	f := &filter{selector: subjects.FilterOf(n)}
	selects := func(obj any) bool {
		if t, ok := obj.(cache.DeletedFinalStateUnknown); ok {
			obj = t.Obj
		}
		return subjects.FilterSelects(f.selector, obj)
	}
	switch {
	case n%4 >= 2 && f.typed(n%2 == 0):
	case n%2 == 0:
		f.handler = cache.FilteringResourceEventHandler{FilterFunc: selects, Handler: cache.ResourceEventHandlerDetailedFuncs{
			AddFunc: f.added, UpdateFunc: f.updated, DeleteFunc: f.deleted,
		}}
	default:
		f.handler = cache.FilteringResourceEventHandler{FilterFunc: selects, Handler: cache.ResourceEventHandlerFuncs{
			AddFunc: func(obj any) { f.added(obj, f.initial) }, UpdateFunc: f.updated, DeleteFunc: f.deleted,
		}}
	}
	return f
}

// pass passes a call through the filter.
func (f *filter) pass(c *call) *Passed {
	f.passed, f.initial = Passed{}, c.sort == AddInitial
	switch c.sort {
	case Add, AddInitial:
		f.handler.OnAdd(c.obj, f.initial)
	case Update:
		f.handler.OnUpdate(c.old, c.obj)
	case DeleteUnknown:
		f.handler.OnDelete(cache.DeletedFinalStateUnknown{Key: c.key, Obj: c.obj})
	default:
		f.handler.OnDelete(c.obj)
	}
	switch {
	case f.passed.N == 0:
		return &nothing
	case f.passed == Passed{N: 1, Calls: [2]PassedCall{{Call: c.sort, RV: subjects.RevisionOf(c.obj), Old: subjects.RevisionOf(c.old)}}}:
		return nil
	}
	p := f.passed
	return &p
}

func (f *filter) added(obj any, initial bool) {
	sort := Add
	if initial {
		sort = AddInitial
	}
	f.note(sort, obj, nil)
}

func (f *filter) updated(old, obj any) { f.note(Update, obj, old) }

func (f *filter) deleted(obj any) {
	if t, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		f.note(DeleteUnknown, t.Obj, nil)
		return
	}
	f.note(Delete, obj, nil)
}

func (f *filter) note(sort Call, obj, old any) {
	if f.passed.N < len(f.passed.Calls) {
		f.passed.Calls[f.passed.N] = PassedCall{Call: sort, RV: subjects.RevisionOf(obj), Old: subjects.RevisionOf(old)}
	}
	f.passed.N++
}
