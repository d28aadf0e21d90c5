package simtest_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// owned returns a ConfigMap owned by another one, whose deletion it blocks.
func owned(name string, owner *corev1.ConfigMap) *corev1.ConfigMap {
	m, yes := configMap(name, "0"), true
	m.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID, BlockOwnerDeletion: &yes}}
	return m
}

func names(env *simtest.Env) []string {
	var list corev1.ConfigMapList
	if err := env.List(&list, ""); err != nil {
		return []string{err.Error()}
	}
	var all []string
	for _, m := range list.Items {
		all = append(all, fmt.Sprintf("%s/%d", m.Name, len(m.OwnerReferences)))
	}
	return all
}

// Dependents are deleted with their owner, according to the propagation policy; so are those created for an owner that is gone.
func TestGarbageCollection(t *testing.T) {
	for policy, want := range map[metav1.DeletionPropagation][]string{
		metav1.DeletePropagationBackground: {"other/0"},
		metav1.DeletePropagationForeground: {"other/0"},
		metav1.DeletePropagationOrphan:     {"a1/0", "a2/0", "a21/1", "other/0"},
	} {
		t.Run(string(policy), func(t *testing.T) {
			simtest.Run(t, simtest.Options{Seeds: 10, Mix: "none", GarbageCollection: true, Replicas: 2}, func(env *simtest.Env) {
				a, other := configMap("a", "0"), configMap("other", "0")
				env.Create(a, other)
				a1, a2 := owned("a1", a), owned("a2", a)
				env.Create(a1, a2)
				env.Create(owned("a21", a2))
				env.Settle()
				c := kubernetes.NewForConfigOrDie(env.RESTConfig("me")).CoreV1().ConfigMaps("default")
				if err := c.Delete(env.Context(), "a", metav1.DeleteOptions{PropagationPolicy: &policy}); err != nil {
					t.Error(err)
				}
				asWanted := func() error {
					if got := names(env); !slices.Equal(got, want) {
						return fmt.Errorf("found %v", got)
					}
					return nil
				}
				env.Eventually("its dependents are handled", 10*time.Minute, asWanted)
				env.Create(owned("late", a))
				env.Eventually("a late dependent is deleted", 10*time.Minute, asWanted)
			})
		})
	}
}

// When an object is collected is a choice, and faults delay it; without the collector nothing is deleted.
func TestGarbageIsCollectedSoonerOrLater(t *testing.T) {
	o := simtest.Options{Seeds: 20, Mix: "storm", GarbageCollection: true, Replicas: 2}
	body := func(env *simtest.Env) {
		a := configMap("a", "0")
		env.Create(a)
		env.Create(owned("a1", a))
		env.Delete(a)
		env.Sometimes("it outlives its owner", func() bool { return len(names(env)) == 1 })
		env.Advance(time.Second)
		env.StopFaults()
		env.Eventually("everything is gone", 10*time.Minute, func() error {
			if len(names(env)) > 0 {
				return errors.New("something is left")
			}
			return nil
		})
	}
	simtest.Run(t, o, body)
	o.GarbageCollection, o.Seeds = false, 1
	wantIn(t, failure(t, o, body), "FAIL  everything is gone at step")
}

// An owner counts only in its dependent's namespace, under its name and kind; an object that has another owner outlives the one that goes, and loses its reference.
func TestOwnersThatCount(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 10, GarbageCollection: true}, func(env *simtest.Env) {
		a, b := configMap("a", "0"), configMap("b", "0")
		env.Create(a, b)
		elsewhere, misnamed, foreign, shared := owned("elsewhere", a), owned("misnamed", a), owned("foreign", a), owned("shared", a)
		elsewhere.Namespace = "other"
		misnamed.OwnerReferences[0].Name = "b"
		foreign.OwnerReferences[0].Kind, foreign.OwnerReferences[0].APIVersion = "Widget", "example.com/v1"
		foreign.OwnerReferences[0].BlockOwnerDeletion = nil // or it would, until there are Widgets
		shared.OwnerReferences = append(shared.OwnerReferences, owned("", b).OwnerReferences...)
		env.Create(elsewhere, misnamed, foreign, shared)
		want := func(what string, all ...string) {
			env.Eventually(what, time.Hour, func() error {
				if got := names(env); !slices.Equal(got, all) {
					return fmt.Errorf("found %v", got)
				}
				return nil
			})
		}
		env.StopFaults()
		want("what has no owner where it is, or none of that name, goes", "a/0", "b/0", "foreign/1", "shared/2")
		c := kubernetes.NewForConfigOrDie(env.RESTConfig("me")).CoreV1().ConfigMaps("default")
		foreground := metav1.DeletePropagationForeground
		if err := c.Delete(env.Context(), "a", metav1.DeleteOptions{PropagationPolicy: &foreground}); err != nil {
			t.Error(err)
		}
		want("what has two owners keeps one", "b/0", "foreign/1", "shared/1")
	})
}

// What custom resources own goes with them, even if their definition is deleted, so that nobody can ask for such an owner any more: Kubernetes' collector remembers who is gone.
func TestGarbageOfADefinitionThatGoes(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 5, Mix: "none", GarbageCollection: true, CRDs: []string{gadgets}, ServeCRDs: true}, func(env *simtest.Env) {
		c := dynamic.NewForConfigOrDie(env.RESTConfig("me"))
		g := gizmo("g", int64(1))
		g.SetKind("Gadget")
		env.Create(g)
		a := configMap("a", "0")
		a.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.dev/v1", Kind: "Gadget", Name: "g", UID: g.GetUID()}}
		env.Create(a, configMap("other", "0"))
		env.Settle()
		if err := c.Resource(definitions).Delete(env.Context(), "gadgets.example.dev", metav1.DeleteOptions{}); err != nil {
			t.Error(err)
		}
		env.Eventually("its dependent is deleted", 10*time.Minute, func() error {
			if got := names(env); !slices.Equal(got, []string{"other/0"}) {
				return fmt.Errorf("found %v", got)
			}
			return nil
		})
	})
}

// What names an owner in another namespace is garbage at once: a controller that makes it again each time does not come to rest, however often the garbage collector writes in between.
func TestGarbageIsMadeAgainAndAgain(t *testing.T) {
	body := func(namespace string) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("makes", func(ctx context.Context) error {
				queue, shutDown, err := newMapQueueIn(ctx, env.RESTConfig("makes"), "default", false)
				if err != nil {
					return err
				}
				defer shutDown()
				factory := informers.NewSharedInformerFactory(queue.client, 0)
				secrets := factory.Core().V1().Secrets().Informer()
				again := func(obj any) {
					if gone, is := obj.(cache.DeletedFinalStateUnknown); is {
						obj = gone.Obj
					}
					queue.Add("default/" + obj.(*corev1.Secret).Name)
				}
				if _, err := secrets.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: again}); err != nil {
					return err
				}
				factory.Start(ctx.Done())
				defer factory.Shutdown()
				cache.WaitForCacheSync(ctx.Done(), queue.maps.HasSynced, secrets.HasSynced)
				work(queue, func(key string) error {
					obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
					if err != nil || !exists {
						return err
					}
					m := obj.(*corev1.ConfigMap)
					s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: m.Name, OwnerReferences: []metav1.OwnerReference{*metav1.NewControllerRef(m, corev1.SchemeGroupVersion.WithKind("ConfigMap"))}}}
					if _, err := queue.client.CoreV1().Secrets(namespace).Create(ctx, s, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
						return err
					}
					return nil
				})
				return nil
			})
			env.Create(configMap("a", "0"))
			env.Advance(time.Second)
		}
	}
	o := simtest.Options{Seeds: 3, Mix: "none", GarbageCollection: true, Properties: just(simtest.QuietAfterConvergence)}
	simtest.Run(t, o, body("default"))
	found := simtest.Find(t, o, body("other"))
	if found == nil || found.Property != simtest.QuietAfterConvergence {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "makes creates the object of secrets other/a for the 3rd time", "The garbage collector takes it away each time", "the garbage collector has deleted secrets other/a, which names no owner that is there")
}
