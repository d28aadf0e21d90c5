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
	"k8s.io/client-go/util/workqueue"

	"github.com/informersim/informersim/simtest"
)

// labeler is a controller that labels ConfigMaps by a work queue: whenever it looks, or only those that are not. It may leave out Forget.
type labeler struct {
	forgets, compares bool
	least, most       time.Duration // of its delays; those of client-go's queues if 0
	decays            time.Duration // if that has passed since the last failure, it begins anew; not if 0
}

func (l labeler) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, false)
	if err != nil {
		return err
	}
	defer shutDown()
	limiter := workqueue.DefaultControllerRateLimiter()
	if l.least > 0 {
		limiter = workqueue.NewItemExponentialFailureRateLimiter(l.least, l.most)
	}
	failed := map[any]time.Time{}
	for {
		key, down := queue.Get()
		if down {
			return nil
		}
		namespace, name, err := cache.SplitMetaNamespaceKey(fmt.Sprint(key))
		if err != nil {
			return err
		}
		if obj, exists, err := queue.maps.GetIndexer().GetByKey(fmt.Sprint(key)); err == nil && l.compares && (!exists || obj.(*corev1.ConfigMap).Labels["seen"] != "") {
			if l.forgets {
				limiter.Forget(key)
			}
			queue.Done(key)
			continue
		}
		_, err = queue.client.CoreV1().ConfigMaps(namespace).Patch(ctx, name, types.MergePatchType, []byte(`{"metadata":{"labels":{"seen":"yes"}}}`), metav1.PatchOptions{})
		switch {
		case err != nil && !apierrors.IsNotFound(err):
			if l.decays > 0 && time.Since(failed[key]) > l.decays {
				limiter.Forget(key)
			}
			failed[key] = time.Now()
			queue.AddAfter(key, limiter.When(key))
		case l.forgets:
			limiter.Forget(key)
		}
		queue.Done(key)
	}
}

// A rate limiter that is told of failures only puts off each retry longer than the last one, although all goes well in between. A controller that compares first what there is
// writes nothing when it looks again, but does if somebody undoes its last write.
func TestRateLimiterThatNeverForgets(t *testing.T) {
	o := simtest.Options{Seeds: 20, Properties: simtest.WellBehaved()}
	body := func(l labeler) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("labels", func(ctx context.Context) error { return l.run(ctx, env.RESTConfig("labels")) })
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
	for _, l := range []labeler{{}, {compares: true}, {compares: true, least: time.Second, most: time.Minute}, {least: 2 * time.Second, most: time.Hour}} {
		right := o
		right.Seeds = seeds(o.Seeds)
		forgetting := l
		forgetting.forgets = true
		simtest.Run(t, right, body(forgetting))
		found := simtest.Find(t, o, body(l))
		if found == nil || found.Property != simtest.NoGrowingBackoff {
			t.Fatalf("%+v: found %v", l, found)
		}
		wantIn(t, found.Text, "labels puts off PATCH /api/v1/namespaces/default/configmaps/", "has to tell it of a success (Forget)", "labels sends it again, after ", "because")
		t.Logf("seed %d: %s", found.Seed, found.Message)
		if testing.Short() {
			continue // what follows finds nothing in any seed
		}
		but := o
		but.Properties = simtest.WellBehaved(simtest.Exception{Property: simtest.NoGrowingBackoff, Client: "labels", Why: "to see whether another one is broken"})
		if found := simtest.Find(t, but, body(l)); found != nil {
			t.Errorf("%+v: another one is broken, too: %v", l, found)
		}
	}
}

// A backoff that goes by how long ago the last failure was, as client-go's flowcontrol.Backoff, needs no Forget.
func TestBackoffThatDecays(t *testing.T) {
	for _, l := range []labeler{{compares: true, decays: 10 * time.Minute}, {decays: 10 * time.Minute}, {compares: true, decays: 33 * time.Minute}} { // twice its maximum, which is 1000 s at most, as a rule
		simtest.Run(t, simtest.Options{Seeds: seeds(20), Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
			env.Go("labels", func(ctx context.Context) error {
				return l.run(ctx, env.RESTConfig("labels"))
			})
			env.Create(configMap("a", ""), configMap("b", ""))
			env.Advance(time.Minute)
		})
	}
}

// Who writes by creates only makes again what a run deletes, while its creates fail.
func TestRateLimiterOfCreatesThatNeverForgets(t *testing.T) {
	only := just(simtest.NoGrowingBackoff)
	for _, ready := range [][]simtest.Property{only, simtest.WellBehaved()} {
		for _, k := range []secretMaker{{children: true}, {children: true, drawn: true}, {children: true, applies: true}} {
			simtest.Run(t, simtest.Options{Seeds: seeds(6), Properties: ready}, keeps(k))
			k.remembers = true
			found := simtest.Find(t, simtest.Options{Seeds: 6, Properties: ready}, keeps(k))
			if found == nil || found.Property != simtest.NoGrowingBackoff {
				t.Fatalf("%+v: found %v", k, found)
			}
			wantIn(t, found.Text, "keeps puts off P", "/api/v1/namespaces/default/secrets", "has to tell it of a success (Forget)", "and it fails once more", "and it succeeds")
			t.Logf("seed %d: %s", found.Seed, found.Message)
		}
	}
}
