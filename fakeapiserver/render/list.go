package render

import (
	"fmt"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// List returns a list that shares the stored objects. Items of built-in kinds carry no kind; lists of custom resources always have
// a continue token, "" at the end (S7). Without items the list is empty, never null.
func List(r *types.Resource, items []runtime.Object, m metav1.ListMeta) (runtime.Object, error) {
	list := r.Strategy.NewList()
	if u, ok := list.(*unstructured.UnstructuredList); ok {
		return u, fillUnstructured(u, items, m)
	}
	l, err := meta.ListAccessor(list)
	if err != nil {
		return nil, fmt.Errorf("render: %w", err)
	}
	l.SetResourceVersion(m.ResourceVersion)
	l.SetContinue(m.Continue)
	l.SetRemainingItemCount(m.RemainingItemCount)
	field := reflect.ValueOf(list).Elem().FieldByName("Items")
	slice := reflect.MakeSlice(field.Type(), 0, len(items))
	for _, item := range items {
		v := reflect.ValueOf(item)
		if v.Kind() != reflect.Pointer || !v.Elem().Type().AssignableTo(field.Type().Elem()) {
			return nil, fmt.Errorf("render: a list of %s cannot hold a %T", r, item)
		}
		slice = reflect.Append(slice, v.Elem())
		if kind := slice.Index(slice.Len() - 1).FieldByName("TypeMeta"); kind.IsValid() {
			kind.SetZero()
		}
	}
	field.Set(slice)
	return list, nil
}

func fillUnstructured(u *unstructured.UnstructuredList, items []runtime.Object, m metav1.ListMeta) error {
	u.SetResourceVersion(m.ResourceVersion)
	u.SetContinue(m.Continue)
	if m.RemainingItemCount != nil {
		u.SetRemainingItemCount(m.RemainingItemCount)
	}
	u.Items = make([]unstructured.Unstructured, 0, len(items))
	for _, item := range items {
		one, ok := item.(*unstructured.Unstructured)
		if !ok {
			return fmt.Errorf("render: a list of %s cannot hold a %T", u.GetKind(), item)
		}
		u.Items = append(u.Items, *one)
	}
	return nil
}
