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
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// reaping deletes ConfigMaps that are done, as its cache has them: with a precondition that one only, without one whatever has its name by then. What is encoded in protobuf is the same.
type reaping struct {
	precondition, protobuf bool
	reads                  bool // what there is now, and deletes that if it is the next one
	done                   func(m *corev1.ConfigMap) bool
}

func (c *reaping) run(ctx context.Context, config *rest.Config) error {
	if c.protobuf {
		config.ContentType = "application/vnd.kubernetes.protobuf"
	}
	queue, shutDown, err := newMapQueue(ctx, config, false)
	if err != nil {
		return err
	}
	defer shutDown()
	queue.factory.WaitForCacheSync(ctx.Done())
	work(queue, func(key string) error { return c.reap(ctx, queue, key) })
	return nil
}

func (c *reaping) reap(ctx context.Context, queue *mapQueue, key string) error {
	obj, is, err := queue.maps.GetIndexer().GetByKey(key)
	if err != nil || !is || !c.done(obj.(*corev1.ConfigMap)) {
		return err
	}
	m, o := obj.(*corev1.ConfigMap), metav1.DeleteOptions{}
	if c.precondition {
		o.Preconditions = &metav1.Preconditions{UID: (*types.UID)(&m.UID)}
	}
	if c.reads {
		now, err := queue.client.CoreV1().ConfigMaps(m.Namespace).Get(ctx, m.Name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err == nil && now.UID == m.UID {
			return nil
		}
		if err != nil {
			return err
		}
	}
	err = queue.client.CoreV1().ConfigMaps(m.Namespace).Delete(ctx, m.Name, o)
	if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
		return nil
	}
	return err
}

// reapingBody has ConfigMaps that are done later, and the next ones of their names, which are so, too, or are done from the start.
func reapingBody(c reaping, next string) func(*simtest.Env) {
	return func(env *simtest.Env) {
		env.Go("reaper", func(ctx context.Context) error { return c.run(ctx, env.RESTConfig("reaper")) })
		somebody := kubernetes.NewForConfigOrDie(env.RESTConfig("somebody")).CoreV1().ConfigMaps("default")
		for n := range 20 {
			m := configMap(fmt.Sprint("m", n%3), fmt.Sprint(n))
			m.Labels = map[string]string{"state": "new"}
			if n >= 3 {
				m.Labels["state"] = next
			}
			if env.Get(m.DeepCopy()) != nil {
				env.Create(m)
				env.Advance(time.Duration(env.Rand().IntN(5_000)) * time.Millisecond)
			}
			_, _ = somebody.Patch(env.Context(), m.Name, types.MergePatchType, []byte(`{"metadata":{"labels":{"state":"done"}}}`), metav1.PatchOptions{})
			if env.Rand().IntN(2) == 0 {
				_ = somebody.Delete(env.Context(), m.Name, metav1.DeleteOptions{})
				m := configMap(m.Name, "the next")
				m.Labels = map[string]string{"state": next}
				_, _ = somebody.Create(env.Context(), m, metav1.CreateOptions{})
			}
			env.Advance(time.Duration(env.Rand().IntN(10_000)) * time.Millisecond)
		}
	}
}

func isDone(m *corev1.ConfigMap) bool { return m.Labels["state"] == "done" }

// A request to delete an object by its name may find the next one.
func TestNoBlindDelete(t *testing.T) {
	for _, protobuf := range []bool{false, true} {
		o := simtest.Options{Seeds: 60, Properties: simtest.WellBehaved()}
		body := reapingBody(reaping{protobuf: protobuf, done: isDone}, "new")
		found := simtest.Find(t, o, body)
		if found == nil || found.Property != simtest.NoBlindDelete {
			t.Fatalf("found %v", found)
		}
		t.Logf("seed %d", found.Seed)
		wantIn(t, found.Text, "reaper deletes configmaps default/m", "of which it had not been told: it knew the one before, uid ", `whose metadata.labels.state had become "done"`, "Its request has no precondition",
			"somebody makes the next configmaps default/m", "which hits the next one")

		o.Seeds, o.Properties = int(found.Seed), simtest.WellBehaved(simtest.Exception{Property: simtest.NoBlindDelete, Client: "reaper", Why: "names are not used again"})
		if found := simtest.Find(t, o, body); found != nil {
			t.Errorf("an exception: found %v", found)
		}
	}
}

// With a precondition it cannot; and who deletes whatever has a name, or the next one as well, needs none.
func TestNoBlindDeleteSpares(t *testing.T) {
	for name, body := range map[string]func(*simtest.Env){
		"a precondition":             reapingBody(reaping{precondition: true, done: isDone}, "new"),
		"a precondition in protobuf": reapingBody(reaping{precondition: true, protobuf: true, done: isDone}, "new"),
		"the next one is done, too":  reapingBody(reaping{done: isDone}, "done"),
		"it has read the next one":   reapingBody(reaping{reads: true, done: isDone}, "new"),
		"whatever it is":             reapingBody(reaping{done: func(*corev1.ConfigMap) bool { return true }}, "new"),
	} {
		t.Run(name, func(t *testing.T) {
			simtest.Run(t, simtest.Options{Seeds: seeds(40), Properties: simtest.WellBehaved()}, body)
		})
	}
}

// evicting deletes ConfigMaps whose Node, which a label names, is gone: by name, or with a precondition.
func evicting(ctx context.Context, config *rest.Config, precondition bool) error {
	queue, shutDown, err := newMapQueue(ctx, config, false)
	if err != nil {
		return err
	}
	defer shutDown()
	nodes := queue.factory.Core().V1().Nodes()
	_, err = nodes.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(any) {
		for _, key := range queue.maps.GetIndexer().ListKeys() {
			queue.Add(key)
		}
	}})
	if err != nil {
		return err
	}
	queue.factory.Start(ctx.Done())
	queue.factory.WaitForCacheSync(ctx.Done())
	work(queue, func(key string) error {
		obj, is, err := queue.maps.GetIndexer().GetByKey(key)
		if err != nil || !is || obj.(*corev1.ConfigMap).Labels["node"] == "" {
			return err
		}
		m, o := obj.(*corev1.ConfigMap), metav1.DeleteOptions{}
		if _, err := queue.client.CoreV1().Nodes().Get(ctx, m.Labels["node"], metav1.GetOptions{}); !apierrors.IsNotFound(err) {
			return err
		}
		if precondition {
			o.Preconditions = &metav1.Preconditions{UID: &m.UID}
		}
		err = queue.client.CoreV1().ConfigMaps(m.Namespace).Delete(ctx, m.Name, o)
		if apierrors.IsNotFound(err) || apierrors.IsConflict(err) {
			return nil
		}
		return err
	})
	return nil
}

// The reason of a deletion may be another object. Then the run makes what was hit once more, to see whether it is to go as well.
func TestNoBlindDeleteForAnothersSake(t *testing.T) {
	for name, test := range map[string]struct {
		precondition bool
		next         string // the Node of the next one
		found        bool
	}{
		"by name":                             {next: "n2", found: true},
		"with a precondition":                 {precondition: true, next: "n2"},
		"the next one's Node is gone as well": {next: "n0"},
	} {
		t.Run(name, func(t *testing.T) {
			o := simtest.Options{Seeds: 30, Properties: simtest.WellBehaved()}
			found := simtest.Find(t, o, func(env *simtest.Env) {
				env.Go("evicts", func(ctx context.Context) error { return evicting(ctx, env.RESTConfig("evicts"), test.precondition) })
				on := func(name, node string) *corev1.ConfigMap {
					m := configMap(name, "")
					m.Labels = map[string]string{"node": node}
					return m
				}
				for _, n := range []string{"n1", "n2"} {
					env.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: n}})
				}
				env.Create(on("a", "n1"), on("b", "n1"))
				env.Advance(time.Minute)
				env.Delete(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1"}})
				for _, name := range []string{"a", "b"} {
					if m := on(name, ""); env.Get(m) == nil {
						env.Delete(m)
					}
					env.Create(on(name, test.next))
				}
				env.Advance(time.Minute)
			})
			if (found != nil) != test.found {
				t.Fatalf("found %v", found)
			}
			if test.found {
				t.Logf("seed %d", found.Seed)
				wantIn(t, found.Text, "FAIL  NoBlindDelete", "evicts deletes configmaps default/", "of which it had not been told: it knew the one before, uid ", `whose metadata.labels.node is "n2"`,
					"and evicts lets that be: made once more as it was, it is not deleted, not even in another life of evicts", "Its request has no precondition", "somebody makes it once more as it was")
			}
		})
	}
}
