package patch

import (
	"reflect"

	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// equal reports whether two objects differ in their resourceVersion at most, so that the write is a no-op (S4).
func equal(a, b runtime.Object) bool {
	x, y := types.ShallowCopy(a), types.ShallowCopy(b)
	setRevision(x, "")
	setRevision(y, "")
	ux, isX := x.(*unstructured.Unstructured)
	uy, isY := y.(*unstructured.Unstructured)
	if isX && isY {
		return equalValue(ux.Object, uy.Object)
	}
	x.GetObjectKind().SetGroupVersionKind(y.GetObjectKind().GroupVersionKind())
	return equality.Semantic.DeepEqual(x, y)
}

// equalValue compares JSON values; an integer equals a float of the same value, for both encode alike.
func equalValue(a, b any) bool {
	switch a := a.(type) {
	case map[string]any:
		b, ok := b.(map[string]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for k, v := range a { // order: all must be equal
			w, found := b[k]
			if !found || !equalValue(v, w) {
				return false
			}
		}
		return true
	case []any:
		b, ok := b.([]any)
		if !ok || len(a) != len(b) {
			return false
		}
		for i := range a {
			if !equalValue(a[i], b[i]) {
				return false
			}
		}
		return true
	case int64:
		if f, ok := b.(float64); ok {
			return float64(a) == f
		}
	case float64:
		if n, ok := b.(int64); ok {
			return a == float64(n)
		}
	}
	return reflect.DeepEqual(a, b)
}

// ignoreTimes returns obj with the live object's managedFields if the two objects differ only in the times of these. An apply that
// changes nothing must not bump the revision (S4).
func ignoreTimes(obj, live runtime.Object) runtime.Object {
	if !sameButTimes(obj, live) {
		return obj
	}
	c := types.ShallowCopy(obj)
	copyManagedFields(c, live)
	if !equal(c, live) {
		return obj
	}
	return c
}
