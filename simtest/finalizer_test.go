package simtest_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// A helper may take the last finalizer from an object that is being deleted, by which it goes.
func TestUpdateRemovesLastFinalizer(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 3, CRDs: []string{gadgets}}, func(env *simtest.Env) {
		w := &unstructured.Unstructured{Object: map[string]any{"apiVersion": "example.dev/v1", "kind": "Gadget"}}
		for _, obj := range []simtest.Object{w, &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{}}} {
			obj.SetNamespace("default")
			obj.SetName("held")
			obj.SetFinalizers([]string{"example.com/hold"})
			env.Create(obj)
			env.Delete(obj)
			env.Mutate(obj, func() { obj.SetFinalizers(nil) })
			if err := env.Get(obj); !apierrors.IsNotFound(err) {
				t.Errorf("after its last finalizer was removed: %v", err)
			}
		}
	})
}

// A finalizer that a controller has only ever taken off is perhaps not its own: the report says on what the suspicion rests.
func TestNoFinalizerLeftOfSomebodyElses(t *testing.T) {
	o := simtest.Options{Mix: "none", Seeds: 1, Properties: simtest.WellBehaved()}
	found := simtest.Find(t, o, func(env *simtest.Env) {
		for _, name := range []string{"a", "b"} {
			m := configMap(name, "")
			m.Finalizers = []string{"example.com/hold"}
			env.Create(m)
		}
		env.Go("greedy", func(ctx context.Context) error {
			client, err := kubernetes.NewForConfig(env.RESTConfig("greedy"))
			if err != nil {
				return err
			}
			_, err = client.CoreV1().ConfigMaps("default").Patch(ctx, "a", types.MergePatchType, []byte(`{"metadata":{"finalizers":null}}`), metav1.PatchOptions{})
			<-ctx.Done()
			return err
		})
		env.Advance(time.Minute)
		env.Delete(configMap("b", ""))
	})
	if found == nil || found.Property != simtest.NoFinalizerLeft {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "configmaps default/b is still there, ", `greedy, which runs, has taken its finalizer "example.com/hold" off another object, though it has never put it on one: it is either greedy's to remove, or somebody else's and not greedy's to touch`,
		"greedy takes the finalizer example.com/hold off configmaps default/a (RV ")
}

// holder puts a finalizer on each ConfigMap, and takes it off one that is being deleted. One that misses deletions overlooks what was
// deleted before it began: it leaves such objects to its handler of updates, and none comes.
func holder(ctx context.Context, config *rest.Config, misses bool) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithCancel(ctx)
	factory := informers.NewSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	defer cancel()
	hold := func(obj any) {
		m := obj.(*corev1.ConfigMap).DeepCopy()
		m.Finalizers = []string{"example.com/hold"}
		if m.DeletionTimestamp != nil {
			m.Finalizers = nil
		}
		for ctx.Err() == nil {
			_, err := client.CoreV1().ConfigMaps(m.Namespace).Update(ctx, m, metav1.UpdateOptions{})
			if err == nil || apierrors.IsConflict(err) || apierrors.IsNotFound(err) {
				return
			}
			time.Sleep(time.Second)
		}
	}
	_, err = factory.Core().V1().ConfigMaps().Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{
		AddFunc: func(obj any) {
			if m := obj.(*corev1.ConfigMap); len(m.Finalizers) == 0 || m.DeletionTimestamp != nil && !misses {
				hold(m)
			}
		},
		UpdateFunc: func(_, obj any) {
			if obj.(*corev1.ConfigMap).DeletionTimestamp != nil {
				hold(obj)
			}
		},
	})
	factory.Start(ctx.Done())
	<-ctx.Done()
	return err
}

// A finalizer that stays until the run ends the controller's watches, whereupon its informers notify it of all there is, would have stayed in a cluster.
func TestNoFinalizerLeftUntilTheRelist(t *testing.T) {
	for _, misses := range []bool{true, false} {
		o := simtest.Options{Mix: "none", Seeds: 5, Properties: simtest.WellBehaved()}
		found := simtest.Find(t, o, func(env *simtest.Env) {
			env.Go("holder", func(ctx context.Context) error { return holder(ctx, env.RESTConfig("holder"), misses) })
			env.Create(configMap("a", ""))
			env.Advance(time.Minute)
			env.Crash("holder")
			env.Delete(configMap("a", ""))
			env.Restart("holder")
			env.Advance(time.Minute)
		})
		if !misses {
			if found != nil {
				t.Errorf("without the mistake: %v", found)
			}
			continue
		}
		if found == nil || found.Property != simtest.NoFinalizerLeft {
			t.Fatalf("found %v", found)
		}
		wantIn(t, found.Text, "configmaps default/a was still there 21m0s after its deletion", `its finalizer "example.com/hold" is holder's, which ran, and took it off only when its informers had listed anew`,
			"holder puts the finalizer example.com/hold on configmaps default/a", "is to be deleted, and has the finalizers example.com/hold", "holder takes the finalizer example.com/hold off configmaps default/a")
	}
}

// Whoever keeps an object for as long as another one uses it is right to keep it for good, if that stays: the run deletes the other one to see. Whoever keeps it then, too, is found.
func TestFinalizerThatProtectsWhatIsUsed(t *testing.T) {
	protects := func(heeds bool) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("protector", func(ctx context.Context) error {
				queue, shutDown, err := newMapQueue(ctx, env.RESTConfig("protector"), false)
				if err != nil {
					return err
				}
				defer shutDown()
				secrets, err := queue.watchSecrets(ctx, func(s *corev1.Secret) {
					if heeds {
						queue.Add("default/" + s.Annotations["uses"])
					}
				})
				if err != nil {
					return err
				}
				work(queue, func(key string) error {
					obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
					if err != nil || !exists {
						return err
					}
					m := obj.(*corev1.ConfigMap).DeepCopy()
					for _, s := range secrets() {
						if m.DeletionTimestamp != nil && s.Annotations["uses"] == m.Name {
							return nil
						}
					}
					held := m.DeletionTimestamp == nil
					if (len(m.Finalizers) > 0) == held {
						return nil
					}
					m.Finalizers = nil
					if held {
						m.Finalizers = []string{"example.com/in-use"}
					}
					_, err = queue.client.CoreV1().ConfigMaps(m.Namespace).Update(ctx, m, metav1.UpdateOptions{})
					return err
				})
				return nil
			})
			env.Create(configMap("free", ""), configMap("taken", ""))
			env.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "user", Annotations: map[string]string{"uses": "taken"}}})
			env.Advance(time.Minute)
			env.Delete(configMap("free", ""), configMap("taken", ""))
			env.Advance(time.Minute)
		}
	}
	o := simtest.Options{Seeds: seeds(20), Properties: simtest.WellBehaved()}
	simtest.Run(t, o, protects(true))
	found := simtest.Find(t, o, protects(false))
	if found == nil || found.Property != simtest.NoFinalizerLeft {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "configmaps default/taken is still there, ", `its finalizer "example.com/in-use" is protector's, which runs, and no fault has kept it from removing it`)
}
