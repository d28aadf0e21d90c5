package simtest_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/simtest"
)

// inOrderKeeper is a controller that keeps a Secret for each ConfigMap, does not look at what others do with it, notes in the ConfigMap which text it has, and removes it by a finalizer. One of these it may do too early or too late.
type inOrderKeeper struct {
	notesMaking   bool // before the Secret is made
	lateFinalizer bool // when the Secret is there
	earlyRelease  bool // before the Secret is removed
	dated         bool // each Secret's name has the time
	leaves        bool // an empty Secret in place of the one that goes
	looks         bool // whether its cache has the Secret, before it removes it
	listens       bool // to Secrets, and removes those whose ConfigMap has gone
}

const (
	kept  = "tests.informersim.dev/kept"
	noted = "noted"
)

func (k inOrderKeeper) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, true)
	if err != nil {
		return err
	}
	defer shutDown()
	cached := func() []*corev1.Secret { return nil }
	if k.looks {
		look := func(*corev1.Secret) {}
		if k.listens {
			look = func(s *corev1.Secret) { queue.Add(s.Namespace + "/" + s.Labels["of"]) }
		}
		if cached, err = queue.watchSecrets(ctx, look); err != nil {
			return err
		}
	}
	queue.factory.WaitForCacheSync(ctx.Done())
	work(queue, func(key string) error {
		obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
		if err == nil && !exists && k.listens {
			return queue.client.CoreV1().Secrets("default").DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "of=" + strings.TrimPrefix(key, "default/")})
		}
		if err != nil || !exists {
			return err
		}
		return k.reconcile(ctx, queue.client, obj.(*corev1.ConfigMap).DeepCopy(), cached)
	})
	return nil
}

func (k inOrderKeeper) reconcile(ctx context.Context, client kubernetes.Interface, m *corev1.ConfigMap, cached func() []*corev1.Secret) error {
	maps, secrets := client.CoreV1().ConfigMaps(m.Namespace), client.CoreV1().Secrets(m.Namespace)
	write := func() error {
		updated, err := maps.Update(ctx, m, metav1.UpdateOptions{})
		if err == nil {
			m = updated
		}
		return err
	}
	holds := slices.Contains(m.Finalizers, kept)
	if m.DeletionTimestamp != nil {
		if !holds {
			return nil
		}
		remove := func() error {
			if k.looks && !slices.ContainsFunc(cached(), func(s *corev1.Secret) bool { return s.Labels["of"] == m.Name }) {
				return nil
			}
			if err := secrets.DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{LabelSelector: "of=" + m.Name}); err != nil || !k.leaves {
				return err
			}
			_, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: m.Name, Labels: map[string]string{"of": m.Name}}}, metav1.CreateOptions{})
			return err
		}
		release := func() error {
			m.Finalizers = slices.DeleteFunc(m.Finalizers, func(f string) bool { return f == kept })
			return write()
		}
		if k.earlyRelease {
			remove, release = release, remove
		}
		if err := remove(); err != nil {
			return err
		}
		return release()
	}
	hold := func() error {
		if holds {
			return nil
		}
		m.Finalizers = append(m.Finalizers, kept)
		return write()
	}
	if !k.lateFinalizer {
		if err := hold(); err != nil {
			return err
		}
	}
	if m.Annotations[noted] == m.Data["v"] {
		return hold()
	}
	all, err := secrets.List(ctx, metav1.ListOptions{LabelSelector: "of=" + m.Name})
	if err != nil {
		return err
	}
	keep := func() error {
		if len(all.Items) > 0 {
			s := &all.Items[0]
			s.StringData = map[string]string{"text": m.Data["v"]}
			_, err := secrets.Update(ctx, s, metav1.UpdateOptions{})
			return err
		}
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: m.Name, Labels: map[string]string{"of": m.Name}}, StringData: map[string]string{"text": m.Data["v"]}}
		if k.dated {
			s.Name = fmt.Sprint(m.Name, "-", time.Now().Unix())
		}
		if _, err := secrets.Create(ctx, s, metav1.CreateOptions{}); !apierrors.IsAlreadyExists(err) {
			return err
		}
		return nil
	}
	note := func() error {
		metav1.SetMetaDataAnnotation(&m.ObjectMeta, noted, m.Data["v"])
		return write()
	}
	if k.notesMaking && len(all.Items) == 0 {
		keep, note = note, keep
	}
	if err := keep(); err != nil {
		return err
	}
	if err := note(); err != nil {
		return err
	}
	return hold()
}

func (k inOrderKeeper) test(env *simtest.Env) {
	env.Go("keeper", func(ctx context.Context) error { return k.run(ctx, env.RESTConfig("keeper")) })
	env.Create(configMap("a", "one"), configMap("b", "one"))
	env.Advance(time.Minute)
	m := configMap("b", "")
	env.Mutate(m, func() { m.Data = map[string]string{"v": "two"} })
	env.Advance(time.Minute)
}

// What a controller does only as long as nothing fails is found without a fault of the test's own: the run does to its objects what the test does, and has what the controller does about it fail.
func TestNoLostEffect(t *testing.T) {
	for _, ready := range [][]simtest.Property{just(simtest.NoLostEffect), simtest.WellBehaved(simtest.Exception{Property: simtest.NoStaleDelete, Why: "it cleans up without a look at the API"})} {
		o := simtest.Options{Seeds: seeds(8), Properties: ready, Mix: "none", CrashProbability: 1e-9}
		simtest.Run(t, o, inOrderKeeper{}.test)
		simtest.Run(t, o, inOrderKeeper{dated: true}.test)
		simtest.Run(t, o, inOrderKeeper{leaves: true}.test)
		simtest.Run(t, o, inOrderKeeper{looks: true, listens: true}.test)
		for name, c := range map[string]struct {
			inOrderKeeper
			says []string
		}{
			"the making is noted before it is done":      {inOrderKeeper{notesMaking: true}, []string{"keeper does not make secrets default/b when configmaps default/b is made and its writes of that fail for 10s", "keeper makes secrets default/b", "/secrets, which fails"}},
			"the finalizer comes late":                   {inOrderKeeper{lateFinalizer: true}, []string{"secrets default/b is left: configmaps default/b, for which keeper makes it, and which takes it along otherwise, was deleted 5s after it was made", "It makes it before the finalizer is there"}},
			"the cache lags":                             {inOrderKeeper{looks: true}, []string{"secrets default/b is left: configmaps default/b, for which keeper makes it, and which takes it along otherwise, was deleted 5s after it was made, while keeper's watch of secrets told nothing for 10s", "What its cache does not have yet", "keeper deletes secrets default/b", "keeper is told nothing more of secrets for 10s"}},
			"the finalizer goes before it is cleaned up": {inOrderKeeper{earlyRelease: true}, []string{"secrets default/b is left: configmaps default/b is gone, and keeper deletes it then if nothing fails", "keeper deletes secrets default/b"}},
		} {
			t.Run(name, func(t *testing.T) {
				found := simtest.Find(t, o, c.inOrderKeeper.test)
				if found == nil || found.Property != simtest.NoLostEffect {
					t.Fatalf("found %v", found)
				}
				wantIn(t, found.Text, c.says...)
				t.Logf("seed %d: %s", found.Seed, found.Message)
			})
		}
	}
	// Under faults, too, who does all in the right order breaks nothing.
	simtest.Run(t, simtest.Options{Seeds: seeds(20), Properties: simtest.WellBehaved()}, inOrderKeeper{}.test)
}
