package subjects

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
)

// Passed is what a filter in front of a handler has let through of one call: a controller that is interested in some of an informer's objects puts
// one there. To that handler, an object that enters the selection is added, and one that leaves it is deleted.
type Passed struct {
	// Filter selects by labels.
	Filter labels.Selector
	// N is the number of calls behind the filter; the first of them are in Told.
	N    int
	Told [2]Told
}

// Told is a call behind a filter.
type Told struct {
	Detail string // as that of KindNotify; an update never says sync
	RV     int64  // of the object: the new one of an update
	Old    int64  // of the old object of an update
}

// filters are those of handlers, by their numbers: each selects some of the objects that scenarios are about.
var filters = []labels.Selector{
	labels.SelectorFromSet(labels.Set{"app": "x"}), labels.SelectorFromSet(labels.Set{"app": "y"}), labels.SelectorFromSet(labels.Set{"tier": "x"}), labels.Everything(), labels.Nothing(),
}

// FilterOf is the filter in front of an informer's nth handler.
func FilterOf(n int) labels.Selector { return filters[n%len(filters)] }

// FilterSelects reports whether a filter selects an object.
func FilterSelects(filter labels.Selector, obj any) bool {
	m, err := meta.Accessor(obj)
	return err == nil && filter.Matches(labels.Set(m.GetLabels()))
}
