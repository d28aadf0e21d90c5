package builtin

import (
	"strings"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// Whatever is created, updated or deleted has times of the run, or of its client, and none of this machine's clock.
func TestTimesAreTheRuns(t *testing.T) {
	for _, r := range Resources(Options{}) {
		if _, ok := r.Strategy.(types.Storage); !ok {
			continue
		}
		t.Run(r.GroupVersion().String()+"/"+r.Plural, func(t *testing.T) {
			for seed := range *steadySeeds {
				live, next := anyObject(t, r, seed), anyObject(t, r, seed+*steadySeeds)
				if live == nil || next == nil {
					continue
				}
				for _, deleted := range []*metav1.Time{nil, {Time: noon.Add(-time.Minute)}} {
					at := func(version string, obj runtime.Object) runtime.Object {
						obj = obj.DeepCopyObject()
						m, _ := meta.Accessor(obj)
						m.SetResourceVersion(version)
						m.SetGeneration(1)
						m.SetOwnerReferences(nil)
						m.SetFinalizers([]string{"example.com/stays"})
						if m.SetDeletionTimestamp(deleted); deleted == nil {
							m.SetDeletionGracePeriodSeconds(nil)
						}
						return obj
					}
					is := func(what string, write func(s *single) (types.Outcome, error)) {
						t.Helper()
						before := time.Now()
						out, err := write(&single{t: t, r: r, now: noon, objs: []runtime.Object{at("7", live)}})
						text := answerOf(t, out, err)
						for _, now := range []time.Time{before, time.Now()} {
							if day := now.UTC().Format(time.DateOnly); strings.Contains(text, day) {
								t.Fatalf("%s of seed %d: it is %s, and so it was in the run: …%s", what, seed, day, text[max(0, strings.Index(text, day)-100):])
							}
						}
					}
					is("create", func(s *single) (types.Outcome, error) {
						s.objs = nil
						return s.storage().Create(s.write("", ""), at("", live))
					})
					for _, policy := range []metav1.DeletionPropagation{"", metav1.DeletePropagationForeground, metav1.DeletePropagationOrphan} {
						is("delete "+string(policy), func(s *single) (types.Outcome, error) {
							return s.storage().Delete(s.write("", "one"), &metav1.DeleteOptions{PropagationPolicy: &policy})
						})
					}
					for _, sub := range append([]string{""}, subresources(r)...) {
						if r.Allows("update", sub) && r.KindOf(sub) == r.GroupVersionKind() {
							is("update "+sub, func(s *single) (types.Outcome, error) {
								return s.storage().Update(s.write(sub, "one"), func(runtime.Object) (runtime.Object, error) { return at("7", next), nil })
							})
						}
					}
				}
			}
		})
	}
}

func subresources(r *types.Resource) (names []string) {
	for _, sub := range r.Subresources {
		names = append(names, sub.Name)
	}
	return names
}
