package simtest_test

import (
	"context"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"

	"github.com/informersim/informersim/simtest"
)

// dials say which generation of them was observed.
const dials = `apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: dials.example.dev}
spec:
  group: example.dev
  scope: Namespaced
  names: {kind: Dial, listKind: DialList, plural: dials, singular: dial}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema: {openAPIV3Schema: {type: object, properties: {
      spec: {type: object, properties: {size: {type: integer}, paused: {type: boolean}}},
      status: {type: object, properties: {size: {type: integer}, observedGeneration: {type: integer}, phase: {type: string}}}}}}
`

func dial(name string, size int64, paused bool) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "example.dev/v1", "kind": "Dial", "metadata": map[string]any{"namespace": "default", "name": name}, "spec": map[string]any{"size": size, "paused": paused},
	}}
}

// The controller that leaves a status alone of which nothing but the generation would change, that notes the first generation only, or always the one before, is found; who says so of what could be
// carried out only, or leaves alone what is paused, is not.
func TestNoStaleGeneration(t *testing.T) {
	type noting = func(d *unstructured.Unstructured, size int64) (write bool)
	observe := func(d *unstructured.Unstructured, generation int64) {
		set(d, generation, "status", "observedGeneration")
	}
	has := func(d *unstructured.Unstructured, path ...string) int64 {
		n, _, _ := unstructured.NestedInt64(d.Object, path...)
		return n
	}
	// What the status says of sizes is whether they are large.
	phase := func(size int64) string {
		if size > 3 {
			return "Large"
		}
		return "Small"
	}
	paused := func(d *unstructured.Unstructured) bool {
		is, _, _ := unstructured.NestedBool(d.Object, "spec", "paused")
		return is
	}
	said := func(d *unstructured.Unstructured) string {
		text, _, _ := unstructured.NestedString(d.Object, "status", "phase")
		return text
	}
	body := func(note noting, sizes ...int64) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("watcher", func(ctx context.Context) error {
				return eachOf(ctx, env, "watcher", "dials", func(ctx context.Context, dials dynamic.ResourceInterface, d *unstructured.Unstructured) error {
					if !note(d, has(d, "spec", "size")) {
						return nil
					}
					_, err := dials.UpdateStatus(ctx, d, metav1.UpdateOptions{})
					return err
				})
			})
			for n, size := range sizes {
				for _, name := range []string{"one", "two"} {
					if d := dial(name, size, false); n == 0 {
						env.Create(d)
					} else {
						env.Update(d)
					}
					env.Advance(10 * time.Second)
				}
			}
			d := dial("one", sizes[0], true)
			env.Update(d)
			env.Advance(time.Minute)
		}
	}
	right := func(d *unstructured.Unstructured, size int64) bool {
		if has(d, "status", "observedGeneration") == d.GetGeneration() {
			return false
		}
		observe(d, d.GetGeneration())
		set(d, phase(size), "status", "phase")
		return true
	}
	o := simtest.Options{Seeds: 6, CRDs: []string{dials}, Properties: simtest.WellBehaved()}
	for name, c := range map[string]struct {
		note  noting
		sizes []int64
		parts []string
	}{
		"nothing but the generation changes": {func(d *unstructured.Unstructured, size int64) bool {
			if said(d) == phase(size) {
				return false
			}
			return right(d, size)
		}, []int64{2, 1, 3}, []string{"watcher leaves status.observedGeneration of dials default/", " at 1, and its generation is 3", "Of the same object, or one like it, it has said its current generation",
			"watcher writes status.observedGeneration = 1 of dials default/", "makes it generation 3 (RV "}},
		"the first generation only": {func(d *unstructured.Unstructured, size int64) bool {
			if has(d, "status", "size") == size {
				return false
			}
			if has(d, "status", "observedGeneration") == 0 {
				observe(d, d.GetGeneration())
			}
			set(d, size, "status", "size")
			return true
		}, []int64{2, 5, 2}, []string{" at 1, and its generation is 3", "Of the same object, or one like it, it has said its current generation"}},
		"always the one before": {func(d *unstructured.Unstructured, size int64) bool {
			if has(d, "status", "size") == size && has(d, "status", "observedGeneration") == d.GetGeneration()-1 {
				return false
			}
			observe(d, d.GetGeneration()-1)
			set(d, size, "status", "size")
			return true
		}, []int64{2, 5, 6}, []string{"It has never said the current generation of any of the dials"}},
	} {
		t.Run(name, func(t *testing.T) {
			found := simtest.Find(t, o, body(c.note, c.sizes...))
			if found == nil || found.Property != simtest.NoStaleGeneration {
				t.Fatalf("found %v", found)
			}
			t.Logf("seed %d: %s", found.Seed, found.Text)
			wantIn(t, found.Text, c.parts...)
		})
	}
	o.Seeds = seeds(40)
	for name, c := range map[string]struct {
		note  noting
		sizes []int64
	}{
		"right": {right, []int64{2, 5, 2, 6}},
		"what is paused is left alone": {func(d *unstructured.Unstructured, size int64) bool {
			if paused(d) {
				return false
			}
			return right(d, size)
		}, []int64{2, 5, 2}},
		"of what could be carried out": {func(d *unstructured.Unstructured, size int64) bool {
			if d.GetGeneration() < 3 {
				return right(d, size)
			}
			if said(d) == "Failed" {
				return false
			}
			set(d, "Failed", "status", "phase")
			return true
		}, []int64{2, 5, 2}},
	} {
		t.Run(name, func(t *testing.T) { simtest.Run(t, o, body(c.note, c.sizes...)) })
	}
}
