package simtest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informersim/informersim/simtest"
)

// marks is a controller that writes into an annotation of ConfigMaps which value it has seen of them, in one of several ways.
func marks(ctx context.Context, config *rest.Config, how string) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	maps, queue := client.CoreV1().ConfigMaps("default"), workqueue.NewRateLimitingQueue(workqueue.DefaultControllerRateLimiter())
	factory := informers.NewSharedInformerFactory(client, 0)
	add := func(obj any) {
		if m, is := obj.(*corev1.ConfigMap); is {
			queue.Add(m.Name)
		}
	}
	if _, err := factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	context.AfterFunc(ctx, queue.ShutDown)
	mark := func(name string) error {
		m, err := factory.Core().V1().ConfigMaps().Lister().ConfigMaps("default").Get(name)
		if err != nil || m.Annotations["seen"] == m.Data["v"] && how != "own" {
			return nil
		}
		m = m.DeepCopy()
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, "seen", m.Data["v"])
		switch how {
		case "without":
			m.ResourceVersion = ""
		case "own":
			if m.Data["v"] == "own" {
				return nil
			}
			m.ResourceVersion, m.Data = "", map[string]string{"v": "own"}
		case "patch":
			_, err = maps.Patch(ctx, name, types.MergePatchType, fmt.Appendf(nil, `{"metadata":{"annotations":{"seen":%q}}}`, m.Data["v"]), metav1.PatchOptions{})
			return err
		}
		_, err = maps.Update(ctx, m, metav1.UpdateOptions{})
		return err
	}
	if how == "own" {
		if _, err := maps.Create(ctx, configMap("a", "own"), metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
			return err
		}
	}
	work(queue, mark)
	return nil
}

// An update without a resourceVersion takes back what others have written since the cache was filled. With one, it is refused; a patch sends only what it sets; and what a
// controller has made itself it may set again.
func TestNoLostUpdate(t *testing.T) {
	o := simtest.Options{Properties: just(simtest.NoLostUpdate)}
	for how, want := range map[string]bool{"without": true, "with": false, "patch": false, "own": false} {
		f := simtest.Find(t, o, func(env *simtest.Env) {
			if how != "own" {
				env.Create(configMap("a", "0"))
			}
			env.Go("marks", func(ctx context.Context) error { return marks(ctx, env.RESTConfig("marks"), how) })
			for v := range 20 {
				if m := configMap("a", ""); env.Get(m) == nil {
					env.Mutate(m, func() { m.Data = map[string]string{"v": fmt.Sprint(v)} })
				}
				env.Advance(time.Duration(env.Rand().IntN(3000)) * time.Millisecond)
			}
		})
		switch {
		case f == nil && want:
			t.Errorf("%s: not found", how)
		case f != nil && !want:
			t.Errorf("%s: found:\n%s", how, f)
		case f != nil:
			if f.Property != simtest.NoLostUpdate {
				t.Errorf("%s is found, want %s", f.Property, simtest.NoLostUpdate)
			}
			wantIn(t, f.Text, "marks takes back what workload has written: data.v of configmaps default/a was ", "Its update has no resourceVersion, with which the server would have refused it",
				"because step ", ": workload writes data.v of configmaps default/a: ", ", which has been told of configmaps up to RV ", "configmaps default/a is as it was before: data.v is ")
		}
	}
}
