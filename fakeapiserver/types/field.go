package types

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
)

// FieldOf reads a dotted path in an unstructured object as field selectors do: absent or null is "".
func FieldOf(content map[string]any, field string) string {
	v, found, err := unstructured.NestedFieldNoCopy(content, strings.Split(field, ".")...)
	if err != nil || !found || v == nil {
		return ""
	}
	return fmt.Sprint(v)
}

// WithoutMeta reports whether objects of this kind have no metadata, like reviews.
func WithoutMeta(obj runtime.Object) bool {
	_, err := meta.Accessor(obj)
	return err != nil
}
