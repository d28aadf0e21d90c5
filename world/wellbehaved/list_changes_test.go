package wellbehaved

import (
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/informersim/informersim/sim"
)

// Only a write that gives a list another order, and a time with it, is explained by the order.
func TestReorders(t *testing.T) {
	of := func(list []any, more map[string]any) *unstructured.Unstructured {
		o := map[string]any{"metadata": map[string]any{"name": "a"}, "list": list}
		for k, v := range more { // order: a map of them
			o[k] = v
		}
		return &unstructured.Unstructured{Object: o}
	}
	was := of([]any{"x", "y"}, nil)
	for _, c := range []struct {
		is   *unstructured.Unstructured
		want bool
	}{
		{of([]any{"y", "x"}, nil), true}, {of([]any{"y", "x"}, map[string]any{"at": "2000-01-01T00:00:00Z"}), true},
		{of([]any{"y", "x"}, map[string]any{"more": "z"}), false}, {of([]any{"x", "z"}, nil), false}, {of([]any{"x"}, nil), false}, {was, false},
	} {
		if got := reorders(&sim.Record{Detail: "MODIFIED", Old: was, Obj: c.is}); got != c.want {
			t.Errorf("%v: %t", c.is.Object, got)
		}
	}
}
