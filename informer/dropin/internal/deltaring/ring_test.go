package deltaring

import (
	"fmt"
	"testing"

	"k8s.io/client-go/tools/cache"
	"pgregory.net/rapid"
)

// TestRingKeepsOrder compares a Ring with a slice.
func TestRingKeepsOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var ring Ring
		var model []string
		n := 0
		t.Repeat(map[string]func(*rapid.T){
			"push": func(t *rapid.T) {
				n++
				key := rapid.SampledFrom([]string{"a", "b", "c"}).Draw(t, "key")
				ring.Push(key, cache.Delta{Type: cache.Added, Object: n})
				model = append(model, fmt.Sprint(key, n))
			},
			"pop": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("empty")
				}
				key, delta := ring.Front()
				if got := fmt.Sprint(key, delta.Object); got != model[0] {
					t.Fatalf("front is %s, want %s", got, model[0])
				}
				ring.PopFront()
				model = model[1:]
			},
			"": func(t *rapid.T) {
				if ring.Len() != len(model) {
					t.Fatalf("Len = %d, want %d", ring.Len(), len(model))
				}
				keys, last := ring.LastByKey()
				want := map[string]string{}
				var order []string
				for _, line := range model {
					if _, seen := want[line[:1]]; !seen {
						order = append(order, line[:1])
					}
					want[line[:1]] = line
				}
				if fmt.Sprint(keys) != fmt.Sprint(order) {
					t.Fatalf("keys %v, want %v", keys, order)
				}
				for key, delta := range last {
					if fmt.Sprint(key, delta.Object) != want[key] {
						t.Fatalf("last of %s is %v, want %s", key, delta.Object, want[key])
					}
				}
			},
		})
	})
}

// TestLongRingIsFreed: a queue that was once long does not keep the memory.
func TestLongRingIsFreed(t *testing.T) {
	var ring Ring
	for i := range 10 * maxIdleLength {
		ring.Push("a", cache.Delta{Object: i})
	}
	for ring.Len() > 0 {
		ring.PopFront()
	}
	if len(ring.entries) > maxIdleLength {
		t.Errorf("a drained ring keeps %d entries", len(ring.entries))
	}
}
