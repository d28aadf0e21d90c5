package subjects

import (
	"fmt"
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

// Transform is what an informer does to each object before it queues it (I43): it drops a label, or fails if the object has one. The zero value
// changes nothing.
type Transform struct{ DropLabel, FailLabel string }

// Refuses reports whether the transform of an object fails. What a watch brings is lost then, and a list as a whole (I112).
func (t Transform) Refuses(obj runtime.Object) bool {
	if t.FailLabel == "" {
		return false
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return false
	}
	_, has := m.GetLabels()[t.FailLabel]
	return has
}

// Object returns what becomes of an object: itself if there is nothing to drop, otherwise a copy, since the server's is shared.
func (t Transform) Object(obj runtime.Object) runtime.Object {
	if t.DropLabel == "" {
		return obj
	}
	m, err := meta.Accessor(obj)
	if err != nil {
		return obj
	}
	if _, has := m.GetLabels()[t.DropLabel]; !has {
		return obj
	}
	obj = obj.DeepCopyObject()
	m, err = meta.Accessor(obj)
	if err != nil {
		return obj
	}
	labels := maps.Clone(m.GetLabels())
	delete(labels, t.DropLabel)
	m.SetLabels(labels)
	return obj
}

// Func is the transform as client-go's informers want it, nil for none.
func (t Transform) Func() func(any) (any, error) {
	if t == (Transform{}) {
		return nil
	}
	return func(obj any) (any, error) {
		if o, ok := obj.(runtime.Object); ok {
			if t.Refuses(o) {
				return nil, fmt.Errorf("the transform fails for objects with the label %q", t.FailLabel)
			}
			return t.Object(o), nil
		}
		return obj, nil
	}
}
