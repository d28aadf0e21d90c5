package simtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/informersim/informersim/simtest"
)

// labelsWith gives each ConfigMap a label. version says which resourceVersion it writes, of the one that is in its cache.
func labelsWith(env *simtest.Env, version func(string) string, patch bool) {
	env.Go("marks", func(ctx context.Context) error {
		queue, shutDown, err := newMapQueue(ctx, env.RESTConfig("marks"), true)
		if err != nil {
			return err
		}
		defer shutDown()
		queue.factory.WaitForCacheSync(ctx.Done())
		work(queue, func(key string) error {
			obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
			if err != nil || !exists {
				return err
			}
			m := obj.(*corev1.ConfigMap).DeepCopy()
			if m.Labels["marked"] == m.Data["v"] {
				return nil
			}
			m.Labels = map[string]string{"marked": m.Data["v"]}
			m.ResourceVersion = version(m.ResourceVersion)
			maps := queue.client.CoreV1().ConfigMaps(m.Namespace)
			if !patch {
				_, err = maps.Update(ctx, m, metav1.UpdateOptions{})
				return err
			}
			body, err := json.Marshal(map[string]any{"metadata": map[string]any{"labels": m.Labels, "resourceVersion": m.ResourceVersion}})
			if err != nil {
				return err
			}
			_, err = maps.Patch(ctx, m.Name, types.MergePatchType, body, metav1.PatchOptions{})
			return err
		})
		return nil
	})
	for n := range 4 {
		m := configMap("a", fmt.Sprint(n))
		if n == 0 {
			env.Create(m)
		} else {
			env.Update(m)
		}
		env.Advance(10 * time.Second)
	}
}

// A write that is refused as stale for ever, although its sender knows the newest version, is found without anybody's telling of reconciles or logging errors.
func TestNoEndlessErrorFindsStaleWrites(t *testing.T) {
	for name, patch := range map[string]bool{"update": false, "patch": true} {
		t.Run(name, func(t *testing.T) {
			first := func() func(string) string {
				kept := ""
				return func(version string) string {
					if kept == "" {
						kept = version
					}
					return kept
				}
			}
			o := simtest.Options{Seeds: 6, Properties: simtest.WellBehaved()}
			found := simtest.Find(t, o, func(env *simtest.Env) { labelsWith(env, first(), patch) })
			if found == nil || found.Property != simtest.NoEndlessError || found.Seed != 1 {
				t.Fatalf("found %v", found)
			}
			wantIn(t, found.Text, "marks writes configmaps default/a with a resourceVersion that is not the newest, again and again: ", " times since the faults stopped at ",
				"the newest is RV 10", "so what it writes is not what it is told", "marks writes configmaps default/a, and is told: 409 Conflict: ", "because")
			e := simtest.Exception{Property: simtest.NoEndlessError, Client: "marks", Object: "configmaps", Why: "it waits for a person"}
			o.Seeds, o.Properties = 1, simtest.WellBehaved(e)
			if found := simtest.Find(t, o, func(env *simtest.Env) { labelsWith(env, first(), patch) }); found != nil {
				t.Errorf("found %v", found)
			}
			newest := func(version string) string { return version }
			o = simtest.Options{Seeds: seeds(12), Properties: simtest.WellBehaved()}
			if found := simtest.Find(t, o, func(env *simtest.Env) { labelsWith(env, newest, patch) }); found != nil {
				t.Errorf("right: found %v", found)
			}
		})
	}
}
