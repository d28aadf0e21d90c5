package simtest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

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
				env.Go("idler", func(ctx context.Context) error { return noteIdle(ctx, env, times.idle) })
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

// noteIdle notes in each ConfigMap since when it is as it is, and after a while, that it is idle.
func noteIdle(ctx context.Context, env *simtest.Env, after time.Duration) error {
	client, err := kubernetes.NewForConfig(env.RESTConfig("idler"))
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	defer cancel()
	queue := workqueue.NewRateLimitingQueue(workqueue.DefaultControllerRateLimiter())
	defer queue.ShutDown()
	maps := factory.Core().V1().ConfigMaps()
	enqueue := func(obj any) { queue.Add(obj.(*corev1.ConfigMap).Name) }
	if _, err := maps.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: enqueue, UpdateFunc: func(_, obj any) { enqueue(obj) }}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer context.AfterFunc(ctx, queue.ShutDown)()
	note := func(name string) error {
		m, err := maps.Lister().ConfigMaps("default").Get(name)
		if err != nil {
			return nil // its deletion ends it
		}
		since, err := time.Parse(time.RFC3339Nano, m.Annotations["since"])
		idle := "no"
		switch left := time.Until(since.Add(after)); {
		case err != nil || m.Annotations["of"] != m.Data["n"]:
			since = time.Now().UTC()
		case left > 0:
			queue.AddAfter(name, left)
			return nil
		default:
			idle = "yes"
		}
		if m.Annotations["idle"] == idle && m.Annotations["of"] == m.Data["n"] {
			return nil
		}
		patch := fmt.Appendf(nil, `{"metadata":{"resourceVersion":%q,"annotations":{"since":%q,"of":%q,"idle":%q}}}`, m.ResourceVersion, since.Format(time.RFC3339Nano), m.Data["n"], idle)
		_, err = client.CoreV1().ConfigMaps("default").Patch(ctx, name, "application/merge-patch+json", patch, metav1.PatchOptions{})
		return err
	}
	work(queue, note)
	return nil
}
