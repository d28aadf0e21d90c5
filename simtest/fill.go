package simtest

import (
	"encoding/json"
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// fill makes obj a copy of live, which is shared with the Store, and leaves nothing of obj's former content. Invariants read
// objects after every step, so an object of the same Go type is copied without a round trip through JSON.
func fill(obj, live runtime.Object) error {
	to := reflect.ValueOf(obj)
	if to.Kind() != reflect.Pointer || to.IsNil() {
		return fmt.Errorf("%T is not a pointer to an object", obj)
	}
	if to.Type() == reflect.TypeOf(live) {
		to.Elem().Set(reflect.ValueOf(live.DeepCopyObject()).Elem())
		return nil
	}
	if u, ok := live.(*unstructured.Unstructured); ok {
		fresh := reflect.New(to.Type().Elem())
		if err := runtime.DefaultUnstructuredConverter.FromUnstructured(u.Object, fresh.Interface()); err != nil {
			return err
		}
		to.Elem().Set(fresh.Elem())
		return nil
	}
	data, err := json.Marshal(live)
	if err != nil {
		return err
	}
	return replace(obj, data)
}

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
func (f *listFiller) add(live runtime.Object) error {
	if f.unstructured != nil {
		u := unstructured.Unstructured{}
		err := fill(&u, live)
		f.unstructured.Items = append(f.unstructured.Items, u)
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
	if err := fill(obj, live); err != nil {
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
