package simtest_test

import (
	"context"
	"maps"
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

// filtering is a controller that marks ConfigMaps, and looks at one that is new, or whose data have changed: what it writes itself changes none. It may look at the uid, too.
type filtering struct {
	uid      bool
	protobuf bool
}

func (f filtering) run(ctx context.Context, config *rest.Config) error {
	if f.protobuf {
		config.ContentType = "application/vnd.kubernetes.protobuf"
	}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	queue := workqueue.NewRateLimitingQueue(workqueue.DefaultControllerRateLimiter())
	factory := informers.NewSharedInformerFactory(client, 0)
	all := factory.Core().V1().ConfigMaps().Informer()
	add := func(obj any) {
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}
	if _, err := all.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(old, obj any) {
		was, is := old.(*corev1.ConfigMap), obj.(*corev1.ConfigMap)
		if !maps.Equal(was.Data, is.Data) || f.uid && was.UID != is.UID {
			add(obj)
		}
	}}); err != nil {
		return err
	}
	factory.Start(ctx.Done())
	defer factory.Shutdown()
	go func() {
		<-ctx.Done()
		queue.ShutDown()
	}()
	work(queue, func(key string) error {
		obj, exists, err := all.GetIndexer().GetByKey(key)
		if err != nil || !exists || obj.(*corev1.ConfigMap).Annotations["marked"] != "" {
			return err
		}
		m := obj.(*corev1.ConfigMap)
		_, err = client.CoreV1().ConfigMaps(m.Namespace).Patch(ctx, m.Name, types.MergePatchType, []byte(`{"metadata":{"annotations":{"marked":"yes"},"uid":"`+string(m.UID)+`"}}`), metav1.PatchOptions{})
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil // another one is told of
		}
		return err
	})
	return nil
}

// A filter of updates that does not look at uids takes an object that was deleted and made anew, while its watch was closed, for the one before. No body has to replace anything.
func TestNoLostReplacement(t *testing.T) {
	only := just(simtest.NoLostReplacement)
	body := func(f filtering) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("marks", func(ctx context.Context) error { return f.run(ctx, env.RESTConfig("marks")) })
			env.Create(configMap("a", "")) // the only one, so that other properties have had it replaced before
			env.Advance(time.Minute)
		}
	}
	for _, ready := range [][]simtest.Property{only, simtest.WellBehaved()} {
		for _, f := range []filtering{{}, {protobuf: true}} {
			right := f
			right.uid = true
			simtest.Run(t, simtest.Options{Seeds: seeds(6), Properties: ready}, body(right))
			found := simtest.Find(t, simtest.Options{Seeds: 6, Properties: ready}, body(f))
			if found == nil || found.Property != simtest.NoLostReplacement {
				t.Fatalf("%+v: found %v", f, found)
			}
			wantIn(t, found.Text, "marks changes metadata.annotations.marked of configmaps default/", "only when it is restarted", "while no watch of its was open", "predicate.GenerationChangedPredicate",
				"somebody makes configmaps default/", "marks, whose watch has told of that, sends PATCH", "marks is told so by a list", "marks has started")
			t.Logf("seed %d: %s", found.Seed, found.Text)
		}
	}
}
