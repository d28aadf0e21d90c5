package informer

import (
	"cmp"
	"fmt"
	"reflect"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// ConsistencyListOptions returns the options of the LIST that CheckConsistency needs: the exact state at resourceVersion.
// ok is false if no such list can be requested (I24).
func ConsistencyListOptions(resourceVersion string) (o metav1.ListOptions, ok bool) {
	if resourceVersion == "0" {
		return o, false
	}
	return metav1.ListOptions{ResourceVersion: resourceVersion, ResourceVersionMatch: metav1.ResourceVersionMatchExact}, true
}

// CheckConsistency compares the objects that a watch-list received with a LIST at the same resourceVersion, in any order
// (I24). It applies transformer, which may be nil, to the listed objects, as was done to the received ones. The error names
// the first difference in UID order.
func CheckConsistency(listed []runtime.Object, received []any, transformer cache.TransformFunc) error {
	want := make([]any, len(listed))
	for i, obj := range listed {
		want[i] = obj
		if transformer != nil {
			var err error
			if want[i], err = transformer(obj); err != nil {
				return fmt.Errorf("transforming listed object %d of %d: %w", i+1, len(listed), err)
			}
		}
	}
	a, err := byUID(want)
	if err != nil {
		return fmt.Errorf("list: %w", err)
	}
	b, err := byUID(received)
	if err != nil {
		return fmt.Errorf("watch-list: %w", err)
	}
	for i := range min(len(a), len(b)) {
		if !reflect.DeepEqual(a[i], b[i]) {
			return fmt.Errorf("the list has %s/%s uid=%s resourceVersion=%s, where the watch-list has %s/%s uid=%s resourceVersion=%s",
				a[i].GetNamespace(), a[i].GetName(), a[i].GetUID(), a[i].GetResourceVersion(),
				b[i].GetNamespace(), b[i].GetName(), b[i].GetUID(), b[i].GetResourceVersion())
		}
	}
	if len(a) != len(b) {
		return fmt.Errorf("the list has %d objects, the watch-list %d", len(a), len(b))
	}
	return nil
}

func byUID(objs []any) ([]metav1.Object, error) {
	out := make([]metav1.Object, len(objs))
	for i, obj := range objs {
		if out[i] = metaOf(obj); out[i] == nil {
			return nil, fmt.Errorf("object %d of %d: %w", i+1, len(objs), errNoMeta)
		}
	}
	slices.SortFunc(out, func(a, b metav1.Object) int { return cmp.Compare(a.GetUID(), b.GetUID()) })
	return out, nil
}
