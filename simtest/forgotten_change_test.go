package simtest_test

import (
	"context"
	"errors"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// What a controller writes only since the run has its informers list anew it has forgotten, whether a change or a failure.
func TestNoForgottenChange(t *testing.T) {
	for mistake, says := range map[string]string{
		"overlooks that a label goes":     "mirrors deletes secrets default/m",
		"compares versions as text":       "secrets default/m",
		"is not told of its children":     "mirrors creates secrets default/m",
		dropsAndGivesUp:                   "secrets default/m",
		"gives up":                        "secrets default/m",
		"drops tombstones":                "a list without it, whereupon informers hand their handlers a cache.DeletedFinalStateUnknown",
		"thinks that a deletion succeeds": "mirrors deletes secrets default/m",
	} {
		t.Run(mistake, func(t *testing.T) {
			// Who gives up when a write fails breaks another one, too, and so does who drops tombstones.
			abandoned, lost := simtest.Exception{Property: simtest.NoAbandonedWrite, Why: "it is another test's"}, simtest.Exception{Property: simtest.NoLostDeletion, Why: "it is another test's"}
			o := simtest.Options{Seeds: 100, Properties: simtest.WellBehaved(abandoned, lost)}
			body := mirroringBody(mirroring{mistake: mistake, watches: true})
			found := simtest.Find(t, o, body)
			if found == nil || found.Property != simtest.NoForgottenChange {
				t.Fatalf("found %v", found)
			}
			wantIn(t, found.Text, says, "only when its informers have listed anew", "the last change of it from outside: ", "mirrors, whose watches the run has ended, is told of ")

			if testing.Short() && mistake != "is not told of its children" {
				return // one of them shows that exceptions are heeded; each makes all runs up to the one that was found once more
			}
			o.Seeds, o.Properties = int(found.Seed), simtest.WellBehaved(abandoned, lost, simtest.Exception{Property: simtest.NoForgottenChange, Client: "mirrors", Why: "it waits for the next resync"},
				simtest.Exception{Property: simtest.NoLeftover, Why: "the same"})
			if found := simtest.Find(t, o, body); found != nil {
				t.Errorf("an exception: found %v", found)
			}
		})
	}
}

// What a controller has answered to is not named as what it has overlooked, even if that has the name of what it writes.
func TestNoForgottenChangeNamesTheLaterChange(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		env.Go("levels", func(ctx context.Context) error {
			queue, shutDown, err := newMapQueueIn(ctx, env.RESTConfig("levels"), "default", false) // it is not told that the level is gone
			if err != nil {
				return err
			}
			defer shutDown()
			queue.factory.WaitForCacheSync(ctx.Done())
			secrets := queue.client.CoreV1().Secrets("default")
			work(queue, func(key string) error {
				if key != "default/a" {
					queue.Add("default/a")
					return nil
				}
				s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"level": "none", "of": "level"}}}
				if _, is, _ := queue.maps.GetIndexer().GetByKey("default/level"); is {
					s.Labels["level"] = "high"
				}
				if _, err := secrets.Update(ctx, s, metav1.UpdateOptions{}); !apierrors.IsNotFound(err) {
					return err
				}
				_, err := secrets.Create(ctx, s, metav1.CreateOptions{})
				return err
			})
			return nil
		})
		env.Create(configMap("level", ""), configMap("other", ""), configMap("a", ""))
		env.Advance(time.Minute)
		env.Delete(configMap("level", ""))
		env.Delete(configMap("other", "")) // which what it writes does not name
		elsewhere := configMap("last", "")
		elsewhere.Namespace = "elsewhere" // of which its informer is told nothing
		env.Create(elsewhere)
		env.Advance(time.Minute)
	})
	if found == nil || found.Property != simtest.NoForgottenChange {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "the last change from outside since levels has last written it: workload commits DELETED of configmaps default/level")
}

// A controller may write this and that before it comes to what it has forgotten, and each write takes its time.
func TestNoForgottenChangeComesLast(t *testing.T) {
	found := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		env.Go("levels", func(ctx context.Context) error {
			queue, shutDown, err := newMapQueueIn(ctx, env.RESTConfig("levels"), "default", false) // it is not told that the level is gone
			if err != nil {
				return err
			}
			defer shutDown()
			queue.factory.WaitForCacheSync(ctx.Done())
			secrets := queue.client.CoreV1().Secrets("default")
			work(queue, func(string) error {
				level := "none"
				if _, is, _ := queue.maps.GetIndexer().GetByKey("default/level"); is {
					level = "high"
				}
				for _, s := range []*corev1.Secret{
					{ObjectMeta: metav1.ObjectMeta{Name: "first"}}, {ObjectMeta: metav1.ObjectMeta{Name: "second"}}, {ObjectMeta: metav1.ObjectMeta{Name: "third"}},
					{ObjectMeta: metav1.ObjectMeta{Name: "last", Labels: map[string]string{"level": level}}},
				} {
					_, err := secrets.Update(ctx, s, metav1.UpdateOptions{})
					if apierrors.IsNotFound(err) {
						_, err = secrets.Create(ctx, s, metav1.CreateOptions{})
					}
					if err != nil {
						return err
					}
				}
				return nil
			})
			return nil
		})
		env.Create(configMap("level", ""), configMap("other", ""))
		env.Advance(time.Minute)
		env.Delete(configMap("level", ""))
		env.Advance(time.Minute)
	})
	if found == nil || found.Property != simtest.NoForgottenChange {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, `metadata.labels.level of secrets default/last to "none" only when its informers have listed anew`)
}

// What a controller has tried in vain it had reasons for by then: a change that came later is not what it has forgotten. And what its informers do not follow does not excuse
// it: no bookmark has to tell that it knows of everything (a watch that begins after the last change of a resource has none).
func TestNoForgottenChangeNamesWhatWasTried(t *testing.T) {
	only := just(simtest.NoForgottenChange)
	found := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none", Shrink: -1, Properties: only}, func(env *simtest.Env) {
		env.Go("levels", func(ctx context.Context) error {
			queue, shutDown, err := newMapQueueIn(ctx, env.RESTConfig("levels"), "default", false)
			if err != nil {
				return err
			}
			defer shutDown()
			queue.factory.WaitForCacheSync(ctx.Done())
			secrets := queue.client.CoreV1().Secrets("default")
			work(queue, func(key string) error {
				obj, is, _ := queue.maps.GetIndexer().GetByKey("default/level")
				if !is || key != "default/level" {
					return nil
				}
				s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "a", Labels: map[string]string{"level": obj.(*corev1.ConfigMap).Data["v"]}}}
				if _, err := secrets.Update(ctx, s, metav1.UpdateOptions{}); !apierrors.IsNotFound(err) {
					return nil // what has failed is not tried again
				}
				_, err := secrets.Create(ctx, s, metav1.CreateOptions{})
				return err
			})
			return nil
		})
		level := configMap("level", "low")
		env.Create(level, configMap("a", ""))
		env.Advance(time.Minute)
		env.Inject(fault.Fault{Kind: fault.Write503, Target: "levels", Resource: "secrets"})
		env.Mutate(level, func() { level.Data["v"] = "high" })
		env.Advance(time.Minute)
		elsewhere := configMap("elsewhere", "")
		elsewhere.Namespace = "elsewhere"
		env.Create(configMap("later", ""), elsewhere)
		env.Inject(fault.Fault{Kind: fault.WatchEOF, Target: "levels"})
		env.Advance(time.Minute)
	})
	if found == nil || found.Property != simtest.NoForgottenChange {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "the last change from outside since levels has last written it, and before it tried to: workload commits MODIFIED of configmaps default/level",
		"levels had tried secrets ", "and was told: 503")
}

// One that forgets nothing keeps all properties, also while it makes something by the clock.
func TestNoForgottenChangeSpares(t *testing.T) {
	for name, c := range map[string]mirroring{"with a cache": {watches: true}, "without": {}, "by the clock": {watches: true, ensures: "backup"}} {
		t.Run(name, func(t *testing.T) {
			simtest.Run(t, simtest.Options{Seeds: seeds(40), Properties: simtest.WellBehaved()}, mirroringBody(c))
		})
	}
}

// What somebody deletes before its maker's cache has seen it, the cache never had: no handler is told.
func TestNoForgottenChangeSparesWhatNoInformerTells(t *testing.T) {
	only := just(simtest.NoForgottenChange)
	for name, seen := range map[string]bool{"unseen": false, "seen": true} {
		t.Run(name, func(t *testing.T) {
			mistake := ""
			if seen {
				mistake = "drops tombstones"
			}
			found := simtest.Find(t, simtest.Options{Seeds: 1, Mix: "none", Properties: only}, deletedBehindItsBack(mistake, seen))
			if (found != nil) != seen {
				t.Errorf("found %v", found)
			}
		})
	}
}

// deletedBehindItsBack deletes what a controller has made while it cannot list, before or after its cache has seen it.
func deletedBehindItsBack(mistake string, seen bool) func(*simtest.Env) {
	return func(env *simtest.Env) {
		start := env.Now()
		env.Go("mirrors", func(ctx context.Context) error {
			return (&mirroring{mistake: mistake, watches: true}).run(ctx, env.RESTConfig("mirrors"))
		})
		env.Advance(time.Second)
		blind := func() {
			soon := env.Now().Sub(start)
			env.Inject(fault.Fault{Kind: fault.List503, Target: "mirrors", Verb: "list", Resource: "secrets", Count: fault.Lasting, Until: soon + 20*time.Second})
			env.Inject(fault.Fault{Kind: fault.Watch410, Target: "mirrors", Resource: "secrets"})
			env.Advance(time.Second)
		}
		if !seen {
			blind()
		}
		m := configMap("m", "")
		m.Labels = map[string]string{"mirror": "yes"}
		env.Create(m)
		env.Advance(time.Second)
		if seen {
			blind()
		}
		env.Delete(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "m"}})
		env.Advance(time.Minute)
	}
}

// A controller that writes whenever it looks may be refused since one of its informers is behind the other, and say so in a status until it has tried again: no change asks for that.
func TestNoForgottenChangeSparesWhatTellsOfARefusal(t *testing.T) {
	o := simtest.Options{Seeds: seeds(40), Mix: "none", CRDs: []string{gauges}, Properties: just(simtest.NoForgottenChange)}
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Go("furnisher", func(ctx context.Context) error {
			client := kubernetes.NewForConfigOrDie(env.RESTConfig("furnisher"))
			factory := informers.NewSharedInformerFactory(client, 0)
			secrets := factory.Core().V1().Secrets().Lister().Secrets("default")
			factory.Start(ctx.Done())
			factory.WaitForCacheSync(ctx.Done())
			return eachOf(ctx, env, "furnisher", "gauges", func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured) error {
				secret, err := secrets.Get(g.GetName())
				if err != nil {
					_, err = client.CoreV1().Secrets("default").Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: g.GetName()}}, metav1.CreateOptions{})
				} else {
					_, err = client.CoreV1().Secrets("default").Update(ctx, secret, metav1.UpdateOptions{})
				}
				message := "made"
				if err != nil {
					message = err.Error()
				}
				if is, _, _ := unstructured.NestedString(g.Object, "status", "message"); is == message {
					return err
				}
				_, writing := gauges.UpdateStatus(ctx, set(g, message, "status", "message"), metav1.UpdateOptions{})
				return errors.Join(err, writing)
			})
		})
		for _, name := range []string{"one", "two"} {
			env.Create(gaugeNamed(name, map[string]any{"size": int64(1)}))
			env.Advance(time.Minute)
		}
	})
}

// A status that is written after another write has failed need not say that: to make what is there already fails each time.
func TestNoForgottenChangeAfterAnotherWriteFailed(t *testing.T) {
	o := simtest.Options{Seeds: 1, Mix: "none", Shrink: -1, CRDs: []string{gauges}, Properties: just(simtest.NoForgottenChange)}
	found := simtest.Find(t, o, func(env *simtest.Env) {
		env.Go("furnisher", func(ctx context.Context) error {
			secrets := kubernetes.NewForConfigOrDie(env.RESTConfig("furnisher")).CoreV1().Secrets("default") // it is told of none
			return eachOf(ctx, env, "furnisher", "gauges", func(ctx context.Context, gauges dynamic.ResourceInterface, g *unstructured.Unstructured) error {
				_, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: g.GetName()}}, metav1.CreateOptions{})
				if err != nil && !apierrors.IsAlreadyExists(err) {
					return err
				}
				secret, err := secrets.Get(ctx, g.GetName(), metav1.GetOptions{})
				if err != nil {
					return err
				}
				message := "waits"
				if len(secret.Data) > 0 {
					message = "ready"
				}
				if is, _, _ := unstructured.NestedString(g.Object, "status", "message"); is == message {
					return nil
				}
				_, err = gauges.UpdateStatus(ctx, set(g, message, "status", "message"), metav1.UpdateOptions{})
				return err
			})
		})
		env.Create(gaugeNamed("one", map[string]any{"size": int64(1)}))
		env.Advance(time.Minute)
		secret := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "one"}}
		env.Mutate(secret, func() { secret.Data = map[string][]byte{"a": []byte("b")} })
		env.Advance(time.Minute)
	})
	if found == nil || found.Property != simtest.NoForgottenChange {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, `furnisher changes status.message of gauges default/one to "ready" only when its informers have listed anew`, "furnisher had tried secrets create default/one, and was told: 409")
}
