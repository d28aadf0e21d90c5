package simtest_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// pairMarker is a controller that labels the ConfigMaps and the Secrets of their names that have no label. It may swallow the error if a Secret's write fails; that of a ConfigMap's it never does.
type pairMarker struct{ swallows bool }

func (p pairMarker) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, false)
	if err != nil {
		return err
	}
	defer shutDown()
	secrets := queue.factory.Core().V1().Secrets().Informer()
	add := func(obj any) {
		if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	if _, err := secrets.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}); err != nil {
		return err
	}
	queue.factory.Start(ctx.Done())
	queue.factory.WaitForCacheSync(ctx.Done())
	label := []byte(`{"metadata":{"labels":{"seen":"yes"}}}`)
	work(queue, func(key string) error {
		obj, exists, err := secrets.GetIndexer().GetByKey(key)
		if err == nil && exists {
			if s := obj.(*corev1.Secret); s.Labels["seen"] == "" {
				_, err = queue.client.CoreV1().Secrets(s.Namespace).Patch(ctx, s.Name, types.MergePatchType, label, metav1.PatchOptions{})
			}
		}
		if err != nil && !p.swallows {
			return err
		}
		if obj, exists, err = queue.maps.GetIndexer().GetByKey(key); err == nil && exists {
			if m := obj.(*corev1.ConfigMap); m.Labels["seen"] == "" {
				_, err = queue.client.CoreV1().ConfigMaps(m.Namespace).Patch(ctx, m.Name, types.MergePatchType, label, metav1.PatchOptions{})
			}
		}
		return err
	})
	return nil
}

// Who tries one write again makes good another that is given up, as long as both fail at the same time. So half of the seeds let one fail by itself.
func TestProbeOfOneWrite(t *testing.T) {
	only := just(simtest.NoAbandonedWrite)
	o := simtest.Options{Seeds: 16, Properties: only}
	body := func(p pairMarker) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("marks", func(ctx context.Context) error { return p.run(ctx, env.RESTConfig("marks")) })
			env.Create(configMap("a", ""), &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
			env.Advance(time.Minute)
		}
	}
	simtest.Run(t, o, body(pairMarker{}))
	found := simtest.Find(t, o, body(pairMarker{swallows: true}))
	if found == nil || found.Property != simtest.NoAbandonedWrite {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "marks changes metadata.labels.seen of secrets default/a", "only when its informers have listed anew")
	t.Logf("seed %d: %s", found.Seed, found.Text)
}
