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
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// label is a controller that labels ConfigMaps whenever it looks, by a work queue. It may leave out Forget.
func label(ctx context.Context, config *rest.Config, forgets bool) error {
	queue, shutDown, err := newMapQueue(ctx, config, false)
	if err != nil {
		return err
	}
	defer shutDown()
	for {
		key, down := queue.Get()
		if down {
			return nil
		}
		namespace, name, err := cache.SplitMetaNamespaceKey(fmt.Sprint(key))
		if err != nil {
			return err
		}
		_, err = queue.client.CoreV1().ConfigMaps(namespace).Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"seen":"yes"}}}`), metav1.PatchOptions{})
		switch {
		case err != nil && !apierrors.IsNotFound(err):
			queue.AddRateLimited(key)
		case forgets:
			queue.Forget(key)
		}
		queue.Done(key)
	}
}

// A rate limiter that is told of failures only puts off each retry longer than the last one, although all goes well in between.
func TestRateLimiterThatNeverForgets(t *testing.T) {
	o := simtest.Options{Seeds: 20, Properties: simtest.WellBehaved()}
	body := func(forgets bool) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("labels", func(ctx context.Context) error { return label(ctx, env.RESTConfig("labels"), forgets) })
			env.Create(configMap("a", ""), configMap("b", ""))
			env.Advance(time.Minute)
			env.StopFaults()
			env.Eventually("all are labeled", 10*time.Minute, func() error {
				var all corev1.ConfigMapList
				if err := env.List(&all, ""); err != nil {
					return err
				}
				for _, m := range all.Items {
					if m.Labels["seen"] == "" {
						return fmt.Errorf("%s is not", m.Name)
					}
				}
				return nil
			})
		}
	}
	simtest.Run(t, o, body(true))
	found := simtest.Find(t, o, body(false))
	if found == nil || found.Property != simtest.NoGrowingBackoff {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "labels puts off PATCH /api/v1/namespaces/default/configmaps/", "has to tell it of a success (Forget)", "labels sends it again, after ", "because")
	t.Logf("seed %d: %s", found.Seed, found.Message)
	o.Properties = simtest.WellBehaved(simtest.Exception{Property: simtest.NoGrowingBackoff, Client: "labels", Why: "to see whether another one is broken"})
	if found := simtest.Find(t, o, body(false)); found != nil {
		t.Errorf("another one is broken, too: %v", found)
	}
}
