package api

import (
	"fmt"
	"strconv"

	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// WatchFilter checks that a watch shows each change as what it is to the watch's selection.
func WatchFilter() property.Property {
	return property.Property{
		Name: "WatchFilter",
		Statement: "a watch shows the changes of what it selects, each as what it is to the selection: what enters it is ADDED, what leaves it is DELETED, as it " +
			"was inside",
		Kinds: watchKinds,
		New: func() property.Checker {
			p := &watchFilter{}
			return property.Checker{Record: p.record}
		},
	}
}

// watchFilter compares events with the Store's history, as far as that is not compacted.
type watchFilter struct{ openWatches }

func (p *watchFilter) record(w property.World, r *sim.Record) *reports.Violation {
	ow := p.openWatches.record(w, r)
	if ow == nil {
		return nil
	}
	message := p.differs(w, ow, r)
	if message == "" {
		ow.reached(r)
		return nil
	}
	return ow.violation(w, r, "%s", message)
}

// differs returns what is wrong with an event or bookmark, or with what the watch left out before it.
func (p *watchFilter) differs(w property.World, ow *openWatch, r *sim.Record) string {
	s := w.Cluster().Store()
	t, res := timelineOf(s, ow.plural)
	if t == nil || ow.rv == 0 || ow.rv < s.Compacted() || r.RV > s.Revision() {
		return ""
	}
	if ow.selector == nil {
		ow.selector = selectorOf(ow.asked, res)
	}
	sel := ow.selector
	if sel == nil {
		return ""
	}
	pos := t.After(ow.rv)
	for ; pos < t.End() && t.At(pos).Revision() < r.RV; pos++ {
		if v := t.At(pos); sel.event(v) != "" {
			return fmt.Sprintf("the change of %s at rv=%d, which is %s to the selection, is missing", v.Entry().Key(), v.Revision(), sel.event(v))
		}
	}
	if r.Detail == string(watch.Bookmark) || r.RV == ow.rv {
		return ""
	}
	if pos == t.End() || t.At(pos).Revision() != r.RV {
		return fmt.Sprintf("a %s of %s comes, and nothing changed at rv=%d", r.Detail, r.Key, r.RV)
	}
	v := t.At(pos)
	switch want := sel.event(v); {
	case v.Entry().Display() != r.Key:
		return fmt.Sprintf("a %s of %s comes, and it was %s that changed at rv=%d", r.Detail, r.Key, v.Entry().Display(), r.RV)
	case want == "":
		return fmt.Sprintf("a %s of %s comes, which is not in the selection", r.Detail, r.Key)
	case string(want) != r.Detail:
		return fmt.Sprintf("a %s of %s comes, which is %s to the selection", r.Detail, r.Key, want)
	case says(r.Obj) != "" && says(r.Obj) != strconv.FormatInt(r.RV, 10): // a client that believes it resumes somewhere else
		return fmt.Sprintf("the %s of %s at rv=%d says of itself that it is at rv=%s", r.Detail, r.Key, r.RV, says(r.Obj))
	case !shows(r.Obj, v, want):
		return fmt.Sprintf("the %s of %s has another object than the Store had", r.Detail, r.Key)
	}
	return ""
}

// says is the resourceVersion that an event's object has, "" if it has none.
func says(obj any) string {
	m, ok := obj.(metav1.Object)
	if !ok {
		return ""
	}
	return m.GetResourceVersion()
}

// shows reports whether an event's object is that of the change; for what leaves the selection, what was there before, with the change's resourceVersion.
func shows(obj any, v *store.Version, event watch.EventType) bool {
	o, ok := obj.(runtime.Object)
	switch {
	case !ok:
		return true // not an object that can be judged
	case event == watch.Deleted && !v.Deleted():
		m, isMeta := o.(metav1.Object)
		before := v.Before().Object().DeepCopyObject()
		was, _ := before.(metav1.Object)
		if !isMeta || was == nil {
			return true
		}
		was.SetResourceVersion(fmt.Sprint(v.Revision()))
		return m.GetResourceVersion() == was.GetResourceVersion() && equality.Semantic.DeepEqual(before, o)
	}
	return store.Same(o, v.Object()) || equality.Semantic.DeepEqual(o, v.Object())
}

// timelineOf returns the history of the resource with that plural, nil if it is that of several.
func timelineOf(s *store.Store, plural string) (found *store.Timeline, res *store.Resource) {
	for id, r := range s.Resources() {
		if r.Plural != plural {
			continue
		}
		if found != nil {
			return nil, nil
		}
		found, res = s.Timeline(store.ResourceID(id)), r
	}
	return found, res
}
