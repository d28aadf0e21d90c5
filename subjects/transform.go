package subjects

import (
	"maps"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
)

// Transform is what an informer does to each object before it queues it (I43): it drops a label. The zero value changes nothing.
type Transform struct{ DropLabel string }

// Object returns what becomes of an object: itself if there is nothing to drop, otherwise a copy, since the server's is shared.
func (t Transform) Object(obj runtime.Object) runtime.Object {
	m, err := meta.Accessor(obj)
	if err != nil {
		return obj
	}
	if _, has := m.GetLabels()[t.DropLabel]; !has || t.DropLabel == "" {
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

// Func is Object as client-go's informers want it, nil if nothing is dropped.
func (t Transform) Func() func(any) (any, error) {
	if t.DropLabel == "" {
		return nil
	}
	return func(obj any) (any, error) {
		if o, ok := obj.(runtime.Object); ok {
			return t.Object(o), nil
		}
		return obj, nil
	}
}
