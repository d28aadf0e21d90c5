package simtest

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// listFiller replaces the content of a list.
type listFiller struct {
	list         runtime.Object
	fresh        reflect.Value // what the list becomes
	items        reflect.Value // its field, for a typed list
	unstructured *unstructured.UnstructuredList
}

func newListFiller(list runtime.Object) (*listFiller, error) {
	if u, ok := list.(*unstructured.UnstructuredList); ok {
		return &listFiller{list: list, unstructured: &unstructured.UnstructuredList{Object: map[string]any{"metadata": map[string]any{}}, Items: u.Items[:0:0]}}, nil
	}
	v := reflect.ValueOf(list)
	if v.Kind() != reflect.Pointer || v.IsNil() || v.Elem().Kind() != reflect.Struct {
		return nil, fmt.Errorf("%T is not a pointer to a list", list)
	}
	f := &listFiller{list: list, fresh: reflect.New(v.Type().Elem()).Elem()}
	if f.items = f.fresh.FieldByName("Items"); !f.items.IsValid() || f.items.Kind() != reflect.Slice {
		return nil, fmt.Errorf("%T has no Items", list)
	}
	return f, nil
}

// add appends a copy of an object.
func (f *listFiller) add(n *entry) error {
	if f.unstructured != nil {
		u := unstructured.Unstructured{}
		err := n.fill(&u)
		if err == nil {
			f.unstructured.Items = append(f.unstructured.Items, u)
		}
		return err
	}
	item := f.items.Type().Elem()
	pointer := item.Kind() == reflect.Pointer
	if pointer {
		item = item.Elem()
	}
	v := reflect.New(item)
	obj, ok := v.Interface().(runtime.Object)
	if !ok {
		return fmt.Errorf("the items of %T are not objects", f.list)
	}
	if err := n.fill(obj); err != nil {
		return err
	}
	if !pointer {
		v = v.Elem()
	}
	f.items.Set(reflect.Append(f.items, v))
	return nil
}

// finish stores what was added in the caller's list.
func (f *listFiller) finish(kind schema.GroupVersionKind) {
	if f.unstructured != nil {
		f.unstructured.SetGroupVersionKind(kind)
		*f.list.(*unstructured.UnstructuredList) = *f.unstructured
		return
	}
	reflect.ValueOf(f.list).Elem().Set(f.fresh)
	f.list.GetObjectKind().SetGroupVersionKind(kind)
}
