package simtest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
)

// What a controller has made for an object that is gone, and removes elsewhere, must not be left. Those that are to stay, as their annotation says, are.
func TestNoLeftover(t *testing.T) {
	for mistake, says := range map[string]string{
		"drops tombstones":                "a list without it, whereupon informers hand their handlers a cache.DeletedFinalStateUnknown",
		"thinks that a deletion succeeds": "here it was told that its request had failed",
	} {
		t.Run(mistake, func(t *testing.T) {
			others := []simtest.Exception{{Property: simtest.NoForgottenChange, Why: "another test's"}, {Property: simtest.QuietAfterRestart, Why: "another test's"}, {Property: simtest.NoLostDeletion, Why: "another test's"}}
			o := simtest.Options{Seeds: 100, Properties: simtest.WellBehaved(others...)}
			body := mirroringBody(mirroring{mistake: mistake})
			found := simtest.Find(t, o, body)
			if found == nil || found.Property != simtest.NoLeftover {
				t.Fatalf("found %v", found)
			}
			t.Logf("seed %d", found.Seed)
			wantIn(t, found.Text, says, "secrets default/m", " is left: configmaps default/m", ", for which mirrors had made it, has been gone for ", "mirrors makes secrets default/m", "as elsewhere, mirrors deletes secrets default/m")

			if testing.Short() && mistake != "drops tombstones" {
				return // the other one shows that exceptions are heeded
			}
			o.Seeds, o.Properties = int(found.Seed), simtest.WellBehaved(append(others, simtest.Exception{Property: simtest.NoLeftover, Object: "secrets", Why: "an administrator removes them"})...)
			if found := simtest.Find(t, o, body); found != nil {
				t.Errorf("an exception: found %v", found)
			}
		})
	}
}

// What was made for an object that is gone may rightly stay as long as another one uses it: the run deletes that to see.
func TestWhatIsUsedIsNoLeftover(t *testing.T) {
	keeps := func(heeds bool) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("keeper", func(ctx context.Context) error {
				queue, shutDown, err := newMapQueue(ctx, env.RESTConfig("keeper"), true)
				if err != nil {
					return err
				}
				defer shutDown()
				secrets, err := queue.watchSecrets(ctx, func(s *corev1.Secret) {
					if of, made := strings.CutPrefix(s.Name, "data-"); made {
						queue.Add("default/" + of)
					} else if heeds {
						queue.Add("default/" + s.Annotations["uses"])
					}
				})
				if err != nil {
					return err
				}
				api := queue.client.CoreV1().Secrets("default")
				work(queue, func(key string) error {
					name := strings.TrimPrefix(key, "default/")
					_, wanted, err := queue.maps.GetIndexer().GetByKey(key)
					if err != nil {
						return err
					}
					var made *corev1.Secret
					used := false
					for _, s := range secrets() {
						if s.Name == "data-"+name {
							made = s
						}
						used = used || s.Annotations["uses"] == name
					}
					switch {
					case wanted && made == nil:
						_, err = api.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: "data-" + name}}, metav1.CreateOptions{})
					case !wanted && made != nil && !used:
						err = api.Delete(ctx, made.Name, metav1.DeleteOptions{Preconditions: &metav1.Preconditions{UID: &made.UID}})
					}
					if apierrors.IsNotFound(err) || apierrors.IsAlreadyExists(err) {
						return nil
					}
					return err
				})
				return nil
			})
			env.Create(configMap("a1", ""), configMap("a2", ""), configMap("a3", ""))
			env.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "user", Annotations: map[string]string{"uses": "a3"}}})
			env.Advance(time.Minute)
			env.Delete(configMap("a1", ""), configMap("a2", ""), configMap("a3", ""))
			env.Advance(time.Minute)
		}
	}
	o := simtest.Options{Seeds: seeds(10), Mix: "none", Properties: just(simtest.NoLeftover)}
	simtest.Run(t, o, keeps(true))
	found := simtest.Find(t, o, keeps(false))
	if found == nil || found.Property != simtest.NoLeftover {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "secrets default/data-a3 is left")
}

// Who looks for what is left once in an hour, and when it begins, has not left it yet. Who looks only when it begins, has.
func TestNoLeftoverOfSweeps(t *testing.T) {
	body := func(period time.Duration) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("sweeps", func(ctx context.Context) error {
				queue, shutDown, err := newMapQueue(ctx, env.RESTConfig("sweeps"), false)
				if err != nil {
					return err
				}
				defer shutDown()
				list, err := queue.watchSecrets(ctx, func(*corev1.Secret) {})
				if err != nil {
					return err
				}
				secrets := queue.client.CoreV1().Secrets(metav1.NamespaceDefault)
				go func() {
					for ctx.Err() == nil {
						for _, s := range list() {
							if _, exists, err := queue.maps.GetIndexer().GetByKey(s.Namespace + "/" + s.Name); err == nil && !exists {
								_ = secrets.Delete(ctx, s.Name, metav1.DeleteOptions{})
							}
						}
						select {
						case <-ctx.Done():
						case <-time.After(period):
						}
					}
				}()
				work(queue, func(key string) error {
					obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
					if err != nil || !exists {
						return err
					}
					_, err = secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: obj.(*corev1.ConfigMap).Name}}, metav1.CreateOptions{})
					if apierrors.IsAlreadyExists(err) {
						return nil
					}
					return err
				})
				return nil
			})
			env.Create(configMap("m1", ""), configMap("m2", ""), configMap("m3", ""))
			for _, name := range []string{"m1", "m2", "m3"} {
				env.Advance(time.Minute)
				env.Delete(configMap(name, ""))
				env.Advance(time.Minute)
				if name != "m3" {
					env.Restart("sweeps")
				}
			}
		}
	}
	o := simtest.Options{Seeds: seeds(4), Mix: "none", Properties: just(simtest.NoLeftover)}
	simtest.Run(t, o, body(time.Hour))
	o.Seeds = 4 // only some of them restart it
	found := simtest.Find(t, o, body(1000*time.Hour))
	if found == nil {
		t.Fatal("nothing is found")
	}
	wantIn(t, found.Text, "secrets default/m3 is left: configmaps default/m3, for which sweeps had made it, has been gone for ")
}
