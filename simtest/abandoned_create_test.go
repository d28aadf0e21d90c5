package simtest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	metaac "k8s.io/client-go/applyconfigurations/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informersim/informersim/simtest"
)

// secretMaker is a controller that makes a Secret for each ConfigMap, and again if somebody deletes it. Its name is the ConfigMap's, or begins with it, if it is drawn. It may give up when a create fails.
type secretMaker struct {
	drawn, givesUp bool
	children       bool // whether it is told of Secrets
	blind          bool // to the tombstones of those whose deletion its watch has missed
	protobuf       bool // as clients of built-in kinds in newer releases
	applies        bool
	remembers      bool // each failure, whatever succeeds afterwards
	filters        bool // what nothing has changed of
}

// unforgetting is a work queue whose rate limiter is never told of a success.
type unforgetting struct {
	workqueue.RateLimitingInterface
}

func (unforgetting) Forget(any) {}

func (k secretMaker) run(ctx context.Context, config *rest.Config) error {
	if k.protobuf {
		config.ContentType = "application/vnd.kubernetes.protobuf"
	}
	queue, shutDown, err := newMapQueue(ctx, config, true)
	if err != nil {
		return err
	}
	defer shutDown()
	queue.deaf.Store(k.filters)
	secrets := queue.factory.Core().V1().Secrets().Informer()
	if k.children {
		add := func(obj any) {
			if _, is := obj.(cache.DeletedFinalStateUnknown); is && k.blind {
				return
			}
			if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
				queue.Add(strings.SplitN(key, "-", 2)[0])
			}
		}
		if _, err := secrets.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, DeleteFunc: add}); err != nil {
			return err
		}
	}
	queue.factory.Start(ctx.Done())
	queue.factory.WaitForCacheSync(ctx.Done())
	made := map[string]bool{} // what the cache need not know yet
	var keys workqueue.RateLimitingInterface = queue
	if k.remembers {
		keys = unforgetting{queue}
	}
	work(keys, func(key string) error {
		obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
		if err != nil || !exists {
			return err
		}
		m := obj.(*corev1.ConfigMap)
		for _, s := range secrets.GetIndexer().ListKeys() {
			if s == key || strings.HasPrefix(s, key+"-") {
				delete(made, s)
				return nil
			}
		}
		for s := range made {
			if live, err := queue.client.CoreV1().Secrets(m.Namespace).Get(ctx, strings.TrimPrefix(s, m.Namespace+"/"), metav1.GetOptions{}); err == nil && strings.HasPrefix(s, key) && live.DeletionTimestamp == nil {
				return nil
			} else if apierrors.IsNotFound(err) {
				delete(made, s)
			}
		}
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(m, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}}}
		if k.drawn {
			secret.Name, secret.GenerateName = "", m.Name+"-"
		}
		if k.applies {
			owner := metaac.OwnerReference().WithAPIVersion("v1").WithKind("ConfigMap").WithName(m.Name).WithUID(m.UID).WithController(true)
			_, err := queue.client.CoreV1().Secrets(m.Namespace).Apply(ctx, coreac.Secret(m.Name, m.Namespace).WithOwnerReferences(owner), metav1.ApplyOptions{FieldManager: "keeps", Force: true})
			if k.givesUp {
				return nil
			}
			return err
		}
		live, err := queue.client.CoreV1().Secrets(m.Namespace).Create(ctx, secret, metav1.CreateOptions{})
		if err == nil {
			made[m.Namespace+"/"+live.Name] = true
		}
		if k.givesUp || apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	return nil
}

// keeps is a test in which it runs, and does nothing but create two ConfigMaps.
func keeps(k secretMaker) func(*simtest.Env) {
	return func(env *simtest.Env) {
		env.Go("keeps", func(ctx context.Context) error { return k.run(ctx, env.RESTConfig("keeps")) })
		env.Create(configMap("a", ""), configMap("b", ""))
		env.Advance(time.Minute)
	}
}

// Who gives up when a create fails leaves it undone. A run shows that: it deletes what was made last, and has creates fail for a while.
func TestNoAbandonedWriteOfCreates(t *testing.T) {
	only := just(simtest.NoAbandonedWrite)
	o := simtest.Options{Seeds: seeds(6), Properties: only}
	for _, drawn := range []bool{false, true} {
		for _, children := range []bool{false, true} {
			simtest.Run(t, o, keeps(secretMaker{drawn: drawn, children: children}))
		}
		simtest.Run(t, o, keeps(secretMaker{drawn: drawn, givesUp: true})) // it is not told that anything is missing
		for _, protobuf := range []bool{false, true} {
			found := simtest.Find(t, o, keeps(secretMaker{drawn: drawn, children: true, givesUp: true, protobuf: protobuf}))
			if found == nil || found.Property != simtest.NoAbandonedWrite {
				t.Fatalf("drawn %t, protobuf %t: found %v", drawn, protobuf, found)
			}
			wantIn(t, found.Text, "keeps creates secrets default/", "only when its informers have listed anew", "POST /api/v1/namespaces/default/secrets, had failed ", "somebody deletes secrets default/", "which fails: 500", "is told anew of what there is")
			t.Logf("seed %d: %s", found.Seed, found.Text)
		}
	}

	// Of one that leaves out what has not changed, whatever its informers list, a restart shows it.
	filtering := o
	filtering.Mix, filtering.CrashProbability = "none", 1e-9
	simtest.Run(t, filtering, keeps(secretMaker{children: true, filters: true}))
	found := simtest.Find(t, filtering, keeps(secretMaker{children: true, filters: true, givesUp: true}))
	if found == nil || found.Property != simtest.NoAbandonedWrite {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "keeps creates secrets default/", "only when it is restarted", "keeps, which the run has restarted, is told anew of what there is")
	filtering.CrashProbability = -1
	simtest.Run(t, filtering, keeps(secretMaker{children: true, filters: true, givesUp: true}))

	// An apply makes what is not there.
	simtest.Run(t, o, keeps(secretMaker{children: true, applies: true}))
	found = simtest.Find(t, o, keeps(secretMaker{children: true, applies: true, givesUp: true}))
	if found == nil || found.Property != simtest.NoAbandonedWrite {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "keeps creates secrets default/", "only when its informers have listed anew", "PATCH /api/v1/namespaces/default/secrets/", "somebody deletes secrets default/")
	t.Logf("seed %d: %s", found.Seed, found.Text)
}
