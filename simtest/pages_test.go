package simtest_test

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
)

// pagedKeeper gives each ConfigMap three Secrets, and removes them before it lets it go, in pages: of the first one alone, or of all. A Secret that goes has it look once more, and so at the next page, if the
// ConfigMap is there yet.
func pagedKeeper(ctx context.Context, env *simtest.Env, all bool) error {
	queue, shutDown, err := newMapQueue(ctx, env.RESTConfig("keeper"), false)
	if err != nil {
		return err
	}
	defer shutDown()
	secrets, err := queue.watchSecrets(ctx, func(s *corev1.Secret) { queue.Add(s.Namespace + "/" + s.Labels["of"]) })
	if err != nil {
		return err
	}
	queue.factory.WaitForCacheSync(ctx.Done())
	maps, api := queue.client.CoreV1().ConfigMaps("default"), queue.client.CoreV1().Secrets("default")
	work(queue, func(key string) error {
		obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
		if err != nil || !exists {
			return err
		}
		m := obj.(*corev1.ConfigMap).DeepCopy()
		holds := slices.Contains(m.Finalizers, kept)
		switch {
		case m.DeletionTimestamp != nil && holds:
			o := metav1.ListOptions{LabelSelector: "of=" + m.Name, Limit: 2}
			for more := true; more; more = all && o.Continue != "" {
				page, err := api.List(ctx, o)
				if err != nil {
					return err
				}
				for _, s := range page.Items {
					if err := api.Delete(ctx, s.Name, metav1.DeleteOptions{}); err != nil && !apierrors.IsNotFound(err) {
						return err
					}
				}
				o.Continue = page.Continue
			}
			m.Finalizers = slices.DeleteFunc(m.Finalizers, func(f string) bool { return f == kept })
			if _, err = maps.Update(ctx, m, metav1.UpdateOptions{}); apierrors.IsNotFound(err) {
				return nil
			}
			return err
		case m.DeletionTimestamp != nil:
			return nil
		case !holds:
			m.Finalizers = append(m.Finalizers, kept)
			_, err = maps.Update(ctx, m, metav1.UpdateOptions{})
			return err
		}
		have := secrets()
		for n := range 3 {
			name := fmt.Sprintf("%s-%d", m.Name, n)
			if slices.ContainsFunc(have, func(s *corev1.Secret) bool { return s.Name == name }) {
				continue
			}
			if live, err := maps.Get(ctx, m.Name, metav1.GetOptions{}); err != nil || live.UID != m.UID || live.DeletionTimestamp != nil {
				return err
			}
			s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"of": m.Name}}}
			if _, err := api.Create(ctx, s, metav1.CreateOptions{}); err != nil && !apierrors.IsAlreadyExists(err) {
				return err
			}
		}
		return nil
	})
	return nil
}

// What is left since its controller has removed the first page only is not put down to its cache.
func TestNoLostEffectOfThePagesThatFollow(t *testing.T) {
	o := simtest.Options{Seeds: 6, Properties: just(simtest.NoLostEffect), Mix: "none", CrashProbability: 1e-9}
	body := func(all bool) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("keeper", func(ctx context.Context) error { return pagedKeeper(ctx, env, all) })
			env.Create(configMap("a", "one"), configMap("b", "one"))
			env.Advance(time.Minute)
		}
	}
	simtest.Run(t, o, body(true))
	found := simtest.Find(t, o, body(false))
	if found == nil || found.Property != simtest.NoLostEffect {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "it has listed secrets in pages, and has not asked for what comes after the first one (continue)", "keeper has listed 2 secrets, is told that there are more, and does not ask for them")
}
