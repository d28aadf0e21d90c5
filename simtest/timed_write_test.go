package simtest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
)

// Who writes a certain time after a change is not accused if that happens to be when the run ends watches, or restarts processes: 20 and 30 minutes after its body are times that people choose.
func TestTimedWritesAreSpared(t *testing.T) {
	for name, times := range map[string]struct{ idle, last time.Duration }{
		"when informers list anew":           {30 * time.Minute, 10 * time.Minute},
		"when processes are restarted":       {40 * time.Minute, 10 * time.Minute},
		"when they are, the body ends early": {30 * time.Minute, 0},
	} {
		t.Run(name, func(t *testing.T) {
			simtest.Run(t, simtest.Options{Seeds: 10, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
				env.Go("idler", func(ctx context.Context) error { return noteIdle(ctx, env, metav1.NamespaceAll, times.idle) })
				m := configMap("m", "0")
				env.Create(m)
				for n := range 4 {
					env.Advance(time.Duration(env.Rand().IntN(20_000)) * time.Millisecond)
					env.Mutate(m, func() { m.Data = map[string]string{"n": fmt.Sprint(n)} })
				}
				env.Advance(times.last)
			})
		})
	}
}

// Who looks once in an hour at what is outside of the cluster has not forgotten what has changed there since, though it writes that when the run has it look earlier.
func TestWhatIsOutsideMayBeLookedAtHourly(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: seeds(20), Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		outside := "one"
		env.Go("importer", func(ctx context.Context) error {
			queue, shutDown, err := newMapQueue(ctx, env.RESTConfig("importer"), false)
			if err != nil {
				return err
			}
			defer shutDown()
			work(queue, func(key string) error {
				obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
				if err != nil || !exists {
					return err
				}
				queue.AddAfter(key, time.Hour)
				m := obj.(*corev1.ConfigMap)
				if m.Annotations["is"] == outside {
					return nil
				}
				patch := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q,"annotations":{"is":%q}}}`, m.ResourceVersion, outside)
				_, err = queue.client.CoreV1().ConfigMaps(m.Namespace).Patch(ctx, m.Name, "application/merge-patch+json", patch, metav1.PatchOptions{})
				return err
			})
			return nil
		})
		env.Create(configMap("m", "0"))
		env.Advance(time.Minute)
		outside = "two"
		env.Advance(time.Minute)
	})
}

// noteIdle notes in each ConfigMap of a namespace since when it is as it is, and after a while, that it is idle.
func noteIdle(ctx context.Context, env *simtest.Env, namespace string, after time.Duration) error {
	queue, shutDown, err := newMapQueueIn(ctx, env.RESTConfig("idler"), namespace, false)
	if err != nil {
		return err
	}
	defer shutDown()
	work(queue, func(key string) error {
		obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
		if err != nil || !exists {
			return err // its deletion ends it
		}
		m := obj.(*corev1.ConfigMap)
		since, err := time.Parse(time.RFC3339Nano, m.Annotations["since"])
		idle := "no"
		switch left := time.Until(since.Add(after)); {
		case err != nil || m.Annotations["of"] != m.Data["n"]:
			since = time.Now().UTC()
		case left > 0:
			queue.AddAfter(key, left)
			return nil
		default:
			idle = "yes"
		}
		if m.Annotations["idle"] == idle && m.Annotations["of"] == m.Data["n"] {
			return nil
		}
		patch := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q,"annotations":{"since":%q,"of":%q,"idle":%q}}}`, m.ResourceVersion, since.Format(time.RFC3339Nano), m.Data["n"], idle)
		_, err = queue.client.CoreV1().ConfigMaps(m.Namespace).Patch(ctx, m.Name, "application/merge-patch+json", patch, metav1.PatchOptions{})
		return err
	})
	return nil
}
