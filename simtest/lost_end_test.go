package simtest_test

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/retry"

	"github.com/informersim/informersim/simtest"
)

// secretKeeper is a controller that has a Secret of the same name for each ConfigMap, without an owner reference, or one that tells of all. It looks at ConfigMaps alone.
type secretKeeper struct {
	blind bool // to the tombstones of ConfigMaps
	one   bool // one Secret tells of all
	drawn bool // the Secret's name
}

// registry is the Secret that tells of all ConfigMaps.
const registry = "registry"

func (k secretKeeper) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, false)
	if err != nil {
		return err
	}
	defer shutDown()
	queue.deaf.Store(k.one) // another ConfigMap, of which the same list tells, would have it look at all
	if _, err := queue.maps.AddEventHandler(cache.ResourceEventHandlerFuncs{DeleteFunc: func(obj any) {
		if _, is := obj.(cache.DeletedFinalStateUnknown); is && k.blind {
			return
		}
		if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
			queue.Add(key)
		}
	}}); err != nil {
		return err
	}
	queue.factory.WaitForCacheSync(ctx.Done())
	secrets := queue.client.CoreV1().Secrets(metav1.NamespaceDefault)
	work(queue, func(key string) error {
		_, exists, err := queue.maps.GetIndexer().GetByKey(key)
		if err != nil {
			return err
		}
		if k.one {
			return retry.RetryOnConflict(retry.DefaultRetry, func() error {
				keys := queue.maps.GetIndexer().ListKeys()
				slices.Sort(keys)
				s, err := secrets.Get(ctx, registry, metav1.GetOptions{})
				if err != nil {
					return err
				}
				names := strings.Join(keys, " ")
				if string(s.Data["names"]) == names {
					return nil
				}
				s.Data = map[string][]byte{"names": []byte(names)}
				_, err = secrets.Update(ctx, s, metav1.UpdateOptions{})
				return err
			})
		}
		name := strings.TrimPrefix(key, metav1.NamespaceDefault+"/")
		all, err := secrets.List(ctx, metav1.ListOptions{LabelSelector: "of=" + name})
		if err != nil {
			return err
		}
		if exists && len(all.Items) == 0 {
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"of": name}}}
			if k.drawn {
				s.Name, s.GenerateName = "", name+"-"
			}
			_, err := secrets.Create(ctx, s, metav1.CreateOptions{})
			return err
		}
		for _, s := range all.Items {
			if exists {
				continue
			}
			if err := secrets.Delete(ctx, s.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
				return err
			}
		}
		return nil
	})
	return nil
}

func (k secretKeeper) test(env *simtest.Env) {
	if k.one {
		env.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: registry}})
	}
	env.Go("keeps", func(ctx context.Context) error { return k.run(ctx, env.RESTConfig("keeps")) })
	env.Create(configMap("a", ""), configMap("b", ""))
	env.Advance(time.Minute)
}

// Who drops the tombstone of an object that others have made, and deleted while no watch was open, does not do for its end what it does otherwise. No body has to delete anything: a run does.
func TestNoLostDeletionOfWhatOthersHaveMade(t *testing.T) {
	for _, ready := range [][]simtest.Property{just(simtest.NoLostDeletion), simtest.WellBehaved()} {
		o := simtest.Options{Seeds: seeds(8), Properties: ready, Mix: "none"}
		for _, k := range []secretKeeper{{}, {drawn: true}, {one: true}} {
			simtest.Run(t, o, k.test)
			k.blind = true
			found := simtest.Find(t, o, k.test)
			if found == nil || found.Property != simtest.NoLostDeletion {
				t.Fatalf("%+v: found %v", k, found)
			}
			wantIn(t, found.Text, "at once when its watch tells that configmaps default/", "and not when a list does", "No watch of its was open", "cache.DeletedFinalStateUnknown", "somebody deletes configmaps default/",
				"keeps, whose watch has told of that, sends ", "keeps is told so by a list without it")
			if want := "keeps deletes secrets default/"; !k.one {
				wantIn(t, found.Text, want, "is still there")
			} else {
				wantIn(t, found.Text, "keeps changes data.names of secrets default/registry to ")
			}
			t.Logf("seed %d: %s", found.Seed, found.Text)
		}
	}
}
