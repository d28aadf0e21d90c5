package simtest_test

import (
	"context"
	"encoding/json"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/simtest"
)

// mapHolder is a controller that adds a finalizer to each ConfigMap, unless somebody else does, and removes it when that is deleted: once what it guards allows it, and by an update, if it is told to. It may give up when that fails.
type mapHolder struct {
	givesUp, updates bool
	adds             bool
	keeps            func() bool
}

const finalizer = "example.com/held"

func (h mapHolder) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, false)
	if err != nil {
		return err
	}
	defer shutDown()
	work(queue, func(key string) error {
		obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
		if err != nil || !exists {
			return err
		}
		m := obj.(*corev1.ConfigMap).DeepCopy()
		held := slices.Contains(m.Finalizers, finalizer)
		switch {
		case m.DeletionTimestamp == nil && !held && h.adds:
			m.Finalizers = append(m.Finalizers, finalizer)
		case m.DeletionTimestamp != nil && held && (h.keeps == nil || !h.keeps()):
			m.Finalizers = slices.DeleteFunc(m.Finalizers, func(f string) bool { return f == finalizer })
		default:
			return nil
		}
		if h.updates {
			_, err = queue.client.CoreV1().ConfigMaps(m.Namespace).Update(ctx, m, metav1.UpdateOptions{})
		} else {
			patch, fail := json.Marshal(map[string]any{"metadata": map[string]any{"resourceVersion": m.ResourceVersion, "finalizers": m.Finalizers}})
			if fail != nil {
				return fail
			}
			_, err = queue.client.CoreV1().ConfigMaps(m.Namespace).Patch(ctx, m.Name, types.MergePatchType, patch, metav1.PatchOptions{})
		}
		if h.givesUp && m.DeletionTimestamp != nil {
			return nil
		}
		return err
	})
	return nil
}

// Who gives up when a finalizer cannot be removed leaves the object for ever. A run shows that of a test that deletes nothing: it deletes what is held, and has writes fail for a while.
func TestNoAbandonedWriteOfFinalizers(t *testing.T) {
	only := just(simtest.NoAbandonedWrite)
	o := simtest.Options{Seeds: seeds(10), Properties: only}
	with := func(name string, finalizers ...string) *corev1.ConfigMap {
		m := configMap(name, "")
		m.Finalizers = finalizers
		return m
	}
	body := func(h mapHolder, do func(*simtest.Env)) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("holds", func(ctx context.Context) error { return h.run(ctx, env.RESTConfig("holds")) })
			do(env)
			env.Advance(time.Minute)
		}
	}
	two := func(env *simtest.Env) { env.Create(with("a"), with("b")) }
	inUse := func() bool { return true }
	for _, updates := range []bool{false, true} {
		simtest.Run(t, o, body(mapHolder{adds: true, updates: updates}, two))
		simtest.Run(t, o, body(mapHolder{adds: true, updates: updates, givesUp: true, keeps: inUse}, two))
	}
	for says, test := range map[string]struct {
		h  mapHolder
		do func(*simtest.Env)
	}{
		"removes the last finalizer of configmaps default/a":                   {mapHolder{adds: true, givesUp: true}, two},
		"PUT /api/v1/namespaces/default/configmaps/a":                          {mapHolder{adds: true, givesUp: true, updates: true}, two},
		"removes the finalizer example.com/held of configmaps default/another": {mapHolder{adds: true, givesUp: true}, func(env *simtest.Env) { env.Create(with("another", "example.com/other")) }},
		// Somebody else adds it, and the controller is seen to remove one.
		"removes the last finalizer of configmaps default/left": {mapHolder{givesUp: true}, func(env *simtest.Env) {
			env.Create(with("a", finalizer), with("left", finalizer))
			env.Delete(with("a"))
		}},
	} {
		found := simtest.Find(t, o, body(test.h, test.do))
		if found == nil || found.Property != simtest.NoAbandonedWrite {
			t.Fatalf("%s: found %v", says, found)
		}
		wantIn(t, found.Text, says, "only when its informers have listed anew", "somebody deletes configmaps default/", "which has the finalizers example.com/", "which fails: 500", "is told anew of what there is")
		t.Logf("seed %d: %s", found.Seed, found.Text)
	}
}
