package store

import (
	"fmt"
	"maps"
	"reflect"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// Meta returns the object's metadata.
func Meta(obj runtime.Object) (metav1.Object, error) {
	if obj == nil {
		return nil, fmt.Errorf("fakeapiserver: the object is nil")
	}
	if dataPointer(obj) == nil {
		return nil, fmt.Errorf("fakeapiserver: the object is a nil %T", obj)
	}
	if a, ok := obj.(metav1.ObjectMetaAccessor); ok {
		// Calling the metadata directly saves the object's forwarding methods.
		if m := a.GetObjectMeta(); m != nil {
			return m, nil
		}
	}
	if m, ok := obj.(metav1.Object); ok {
		return m, nil
	}
	return nil, fmt.Errorf("fakeapiserver: %T has no object metadata", obj)
}

// dataPointer returns an object's address: nil if the interface holds a nil pointer.
func dataPointer(obj runtime.Object) unsafe.Pointer {
	return (*[2]unsafe.Pointer)(unsafe.Pointer(&obj))[1]
}

// Same reports whether two interfaces hold the same object in memory.
func Same(a, b runtime.Object) bool { return dataPointer(a) == dataPointer(b) }

// shallowCopy copies an object only as deep as its metadata, so that it can be stamped; the rest is shared.
func shallowCopy(obj runtime.Object) runtime.Object {
	if u, ok := obj.(*unstructured.Unstructured); ok {
		c := &unstructured.Unstructured{Object: maps.Clone(u.Object)}
		if m, ok := u.Object["metadata"].(map[string]any); ok {
			c.Object["metadata"] = maps.Clone(m)
		}
		return c
	}
	v := reflect.ValueOf(obj)
	if v.Kind() != reflect.Pointer || v.IsNil() {
		return obj.DeepCopyObject()
	}
	c := reflect.New(v.Type().Elem())
	c.Elem().Set(v.Elem())
	return c.Interface().(runtime.Object)
}
