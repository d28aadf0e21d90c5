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

// The controller that leaves a status alone of which nothing but the generation would change, that notes the first generation only, or always the one before, is found; who says so of what could be
// carried out only, or leaves alone what is paused, is not.
func TestNoStaleGeneration(t *testing.T) {
	type noting = func(g *unstructured.Unstructured, size int64) (write bool)
	observe := func(g *unstructured.Unstructured, generation int64) {
		set(g, generation, "status", "observedGeneration")
	}
	has := func(g *unstructured.Unstructured, path ...string) int64 {
		n, _, _ := unstructured.NestedInt64(g.Object, path...)
		return n
	}
	// What the status says of sizes is whether they are large.
	phase := func(size int64) string {
		if size > 3 {
			return "Large"
		}
		return "Small"
	}
	paused := func(g *unstructured.Unstructured) bool {
		is, _, _ := unstructured.NestedBool(g.Object, "spec", "paused")
		return is
	}
	said := func(g *unstructured.Unstructured) string {
		text, _, _ := unstructured.NestedString(g.Object, "status", "phase")
		return text
	}
	body := func(note noting, sizes ...int64) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("watcher", func(ctx context.Context) error {
				return eachOf(ctx, env, "watcher", "gauges", func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured) error {
					if !note(g, has(g, "spec", "size")) {
						return nil
					}
					_, err := gauges.UpdateStatus(ctx, g, metav1.UpdateOptions{})
					return err
				})
			})
			for n, size := range sizes {
				for _, name := range []string{"one", "two"} {
					if g := gaugeNamed(name, map[string]any{"size": size, "paused": false}); n == 0 {
						env.Create(g)
					} else {
						env.Update(g)
					}
					env.Advance(10 * time.Second)
				}
			}
			g := gaugeNamed("one", map[string]any{"size": sizes[0], "paused": true})
			env.Update(g)
			env.Advance(time.Minute)
		}
	}
	right := func(g *unstructured.Unstructured, size int64) bool {
		if has(g, "status", "observedGeneration") == g.GetGeneration() {
			return false
		}
		observe(g, g.GetGeneration())
		set(g, phase(size), "status", "phase")
		return true
	}
	o := simtest.Options{Seeds: 6, CRDs: []string{gauges}, Properties: simtest.WellBehaved()}
	for name, c := range map[string]struct {
		note  noting
		sizes []int64
		parts []string
	}{
		"nothing but the generation changes": {func(g *unstructured.Unstructured, size int64) bool {
			if said(g) == phase(size) {
				return false
			}
			return right(g, size)
		}, []int64{2, 1, 3}, []string{"watcher leaves status.observedGeneration of gauges default/", " at 1, and its generation is 3", "Of the same object, or one like it, it has said its current generation",
			"watcher writes status.observedGeneration = 1 of gauges default/", "makes it generation 3 (RV "}},
		"the first generation only": {func(g *unstructured.Unstructured, size int64) bool {
			if has(g, "status", "size") == size {
				return false
			}
			if has(g, "status", "observedGeneration") == 0 {
				observe(g, g.GetGeneration())
			}
			set(g, size, "status", "size")
			return true
		}, []int64{2, 5, 2}, []string{" at 1, and its generation is 3", "Of the same object, or one like it, it has said its current generation"}},
		"always the one before": {func(g *unstructured.Unstructured, size int64) bool {
			if has(g, "status", "size") == size && has(g, "status", "observedGeneration") == g.GetGeneration()-1 {
				return false
			}
			observe(g, g.GetGeneration()-1)
			set(g, size, "status", "size")
			return true
		}, []int64{2, 5, 6}, []string{"It has never said the current generation of any of the gauges"}},
		"a condition that stays as it is": {func(g *unstructured.Unstructured, size int64) bool {
			written := right(g, size)
			if ready := condition(g, "Ready"); ready == nil || ready["reason"] != phase(size) {
				setReady(g, phase(size), g.GetGeneration())
				written = true
			}
			return written
		}, []int64{2, 1, 3}, []string{"watcher leaves status.conditions[Ready].observedGeneration of gauges default/", " at 1, and its generation is 3", "Of the same object, or one like it, it has said its current generation",
			"watcher writes status.conditions[Ready].observedGeneration = 1 of gauges default/"}},
		"a condition that is always one behind": {func(g *unstructured.Unstructured, size int64) bool {
			if ready := condition(g, "Ready"); ready != nil && ready["observedGeneration"] == g.GetGeneration()-1 {
				return false
			}
			setReady(g, phase(size), g.GetGeneration()-1)
			return true
		}, []int64{2, 5, 6}, []string{"status.conditions[Ready].observedGeneration", "It has never said the current generation of any of the gauges"}},
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
		"what is paused is left alone": {func(g *unstructured.Unstructured, size int64) bool {
			if paused(g) {
				return false
			}
			return right(g, size)
		}, []int64{2, 5, 2}},
		"of what could be carried out": {func(g *unstructured.Unstructured, size int64) bool {
			if g.GetGeneration() < 3 {
				return right(g, size)
			}
			if said(g) == "Failed" {
				return false
			}
			set(g, "Failed", "status", "phase")
			return true
		}, []int64{2, 5, 2}},
		"of what a condition does not refuse": {func(g *unstructured.Unstructured, size int64) bool {
			if size < 4 {
				return right(g, size)
			}
			if condition(g, "Ready") != nil {
				return false
			}
			set(g, []any{map[string]any{"type": "Ready", "status": "False", "reason": "TooLarge"}}, "status", "conditions")
			return true
		}, []int64{2, 5, 6}},
		"conditions, each with its generation": {func(g *unstructured.Unstructured, size int64) bool {
			if ready := condition(g, "Ready"); ready != nil && ready["observedGeneration"] == g.GetGeneration() {
				return false
			}
			setReady(g, phase(size), g.GetGeneration())
			return true
		}, []int64{2, 5, 2, 6}},
		"a condition that tells of something that has happened": {func(g *unstructured.Unstructured, size int64) bool {
			if condition(g, "Initialized") != nil {
				return right(g, size)
			}
			set(g, []any{map[string]any{"type": "Initialized", "status": "True", "observedGeneration": g.GetGeneration()}}, "status", "conditions")
			right(g, size)
			return true
		}, []int64{2, 1, 2}},
	} {
		t.Run(name, func(t *testing.T) { simtest.Run(t, o, body(c.note, c.sizes...)) })
	}
}

// condition returns a condition of an object, nil if it has none of that type.
func condition(u *unstructured.Unstructured, of string) map[string]any {
	all, _, _ := unstructured.NestedSlice(u.Object, "status", "conditions")
	for _, c := range all {
		if c, is := c.(map[string]any); is && c["type"] == of {
			return c
		}
	}
	return nil
}

// setReady gives an object a condition that tells why it is ready, and of which generation.
func setReady(u *unstructured.Unstructured, reason string, generation int64) {
	set(u, []any{map[string]any{"type": "Ready", "status": "True", "reason": reason, "observedGeneration": generation}}, "status", "conditions")
}
