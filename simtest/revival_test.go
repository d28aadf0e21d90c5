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
	coreac "k8s.io/client-go/applyconfigurations/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// annotating is a controller that notes in each ConfigMap what it is, by an apply.
type annotating struct {
	uid    bool // it names the uid of the one that it means
	keeps  bool // it wants each ConfigMap to be there that has ever been
	starts bool // it wants some to be there, and makes them when it starts
}

func (a annotating) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, true)
	if err != nil {
		return err
	}
	defer shutDown()
	o := metav1.ApplyOptions{FieldManager: "notes", Force: true}
	maps := queue.client.CoreV1().ConfigMaps("default")
	if a.starts {
		for n := range 3 {
			if _, err := maps.Apply(ctx, coreac.ConfigMap(fmt.Sprint("m", n), "default").WithAnnotations(map[string]string{"noted": "first"}), o); err != nil {
				return err
			}
		}
	}
	if !cache.WaitForCacheSync(ctx.Done(), queue.maps.HasSynced) {
		return nil
	}
	work(queue, func(key string) error {
		obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
		namespace, name, _ := cache.SplitMetaNamespaceKey(key)
		if err != nil || !exists && !a.keeps {
			return err
		}
		note, m := "none", &corev1.ConfigMap{}
		if exists {
			m = obj.(*corev1.ConfigMap)
			note = m.Data["v"]
		}
		if exists && m.Annotations["noted"] == note {
			return nil
		}
		wanted := coreac.ConfigMap(name, namespace).WithAnnotations(map[string]string{"noted": note})
		if a.uid {
			wanted.WithUID(m.UID)
		}
		_, err = maps.Apply(ctx, wanted, o)
		if a.uid && (apierrors.IsConflict(err) || apierrors.IsNotFound(err)) {
			return nil
		}
		return err
	})
	return nil
}

// An apply makes what is not there. Who means the object that has gone meanwhile brings back something that nobody wants; who wants it makes it again.
func TestNoRevival(t *testing.T) {
	body := func(a annotating) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("notes", func(ctx context.Context) error { return a.run(ctx, env.RESTConfig("notes")) })
			somebody := kubernetes.NewForConfigOrDie(env.RESTConfig("somebody")).CoreV1().ConfigMaps("default")
			for v := range 20 {
				m := configMap(fmt.Sprint("m", env.Rand().IntN(3)), fmt.Sprint(v))
				if env.Get(m.DeepCopy()) != nil {
					_, _ = somebody.Create(env.Context(), m, metav1.CreateOptions{})
				} else {
					_, _ = somebody.Update(env.Context(), m, metav1.UpdateOptions{})
					if env.Rand().IntN(2) == 0 {
						_ = somebody.Delete(env.Context(), m.Name, metav1.DeleteOptions{})
					}
				}
				env.Advance(time.Duration(env.Rand().IntN(5_000)) * time.Millisecond)
			}
		}
	}
	o := simtest.Options{Seeds: 60, Properties: simtest.WellBehaved()}
	found := simtest.Find(t, o, body(annotating{}))
	if found == nil || found.Property != simtest.NoRevival {
		t.Fatalf("found %v", found)
	}
	t.Logf("seed %d: %s", found.Seed, found.Text)
	wantIn(t, found.Text, "notes brings back configmaps default/m", ", which somebody else has deleted: its apply makes what is not there", "somebody makes configmaps default/m", " is gone (RV ",
		"notes, which has not been told so, sends PATCH /api/v1/namespaces/default/configmaps/m", "which makes configmaps default/m", "the run deletes it once more", "because")

	seed := int(found.Seed)
	o.Seeds, o.Properties = seed, simtest.WellBehaved(simtest.Exception{Property: simtest.NoRevival, Client: "notes", Object: "configmaps", Why: "names are not used again"})
	if found := simtest.Find(t, o, body(annotating{})); found != nil {
		t.Errorf("an exception: found %v", found)
	}
	o.Seeds, o.Properties = max(seed, seeds(20)), simtest.WellBehaved()
	for name, a := range map[string]annotating{"the uid": {uid: true}, "it is to be there": {keeps: true}, "it is made at each start": {starts: true, uid: true}} {
		t.Run(name, func(t *testing.T) { simtest.Run(t, o, body(a)) })
	}
}

// cleaning is a controller that has something to clean up for each ConfigMap before that goes, which takes a while.
type cleaning struct {
	updates bool // it writes the ConfigMap only if it is still there then
	keeps   bool // it wants each ConfigMap to be there that has ever been
	silent  bool // nobody tells of its reconciles
}

const cleanUp = "example.com/clean-up"

func (c cleaning) run(ctx context.Context, config *rest.Config, env *simtest.Env) error {
	queue, shutDown, err := newMapQueue(ctx, config, true)
	if err != nil {
		return err
	}
	defer shutDown()
	if !cache.WaitForCacheSync(ctx.Done(), queue.maps.HasSynced) {
		return nil
	}
	work(queue, func(key string) (err error) {
		if !c.silent {
			end := env.Reconciling("cleaner", "configmaps "+key)
			defer func() { end(err) }()
		}
		m, err := c.get(queue, key)
		switch {
		case err != nil:
		case m == nil && c.keeps:
			err = c.createOrUpdate(ctx, queue, key, func(m *corev1.ConfigMap) { m.Finalizers = []string{cleanUp} })
		case m == nil:
		case m.DeletionTimestamp == nil && !slices.Contains(m.Finalizers, cleanUp):
			err = c.createOrUpdate(ctx, queue, key, func(m *corev1.ConfigMap) { m.Finalizers = []string{cleanUp} })
		case m.DeletionTimestamp != nil && slices.Contains(m.Finalizers, cleanUp):
			time.Sleep(3 * time.Second)
			err = c.createOrUpdate(ctx, queue, key, func(m *corev1.ConfigMap) { m.Finalizers = nil })
		}
		return err
	})
	return nil
}

// get returns a copy of what the cache has, nil if there is none.
func (cleaning) get(queue *mapQueue, key string) (*corev1.ConfigMap, error) {
	obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
	if err != nil || !exists {
		return nil, err
	}
	return obj.(*corev1.ConfigMap).DeepCopy(), nil
}

// createOrUpdate changes a ConfigMap as controllerutil.CreateOrUpdate does: it makes what its cache does not have.
func (c cleaning) createOrUpdate(ctx context.Context, queue *mapQueue, key string, change func(*corev1.ConfigMap)) error {
	maps := queue.client.CoreV1().ConfigMaps("default")
	m, err := c.get(queue, key)
	if err != nil {
		return err
	}
	if m != nil {
		change(m)
		_, err = maps.Update(ctx, m, metav1.UpdateOptions{})
	} else if !c.updates || c.keeps {
		_, name, _ := cache.SplitMetaNamespaceKey(key)
		m = configMap(name, "")
		change(m)
		_, err = maps.Create(ctx, m, metav1.CreateOptions{})
	}
	if apierrors.IsNotFound(err) {
		return nil
	}
	return err
}

// Who makes what is not there, in place of writing what is there, brings back what has gone while it was busy with it. That it does so in a reconcile of that object shows that it has not been asked for anew.
func TestNoRevivalByCreate(t *testing.T) {
	body := func(c cleaning) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("cleaner", func(ctx context.Context) error { return c.run(ctx, env.RESTConfig("cleaner"), env) })
			for n := range 6 {
				m := configMap(fmt.Sprint("m", n), "v")
				env.Create(m)
				env.Advance(10 * time.Second)
				env.Delete(m)
				env.Advance(time.Duration(env.Rand().IntN(5)) * time.Second)
				if env.Get(m) == nil && m.DeletionTimestamp != nil {
					env.Mutate(m, func() { m.Finalizers = nil }) // somebody is impatient
				}
				env.Advance(10 * time.Second)
			}
		}
	}
	o := simtest.Options{Seeds: 20, Properties: simtest.WellBehaved()}
	found := simtest.Find(t, o, body(cleaning{}))
	if found == nil || found.Property != simtest.NoRevival {
		t.Fatalf("found %v", found)
	}
	t.Logf("seed %d: %s", found.Seed, found.Text)
	wantIn(t, found.Text, "cleaner brings back configmaps default/m", ", which somebody else has deleted: its reconcile of that creates it", "workload makes configmaps default/m", " is gone (RV ",
		"cleaner sends POST /api/v1/namespaces/default/configmaps", "which makes configmaps default/m", "the run deletes it once more")

	o.Properties = simtest.WellBehaved(simtest.Exception{Property: simtest.NoRevival, Client: "cleaner", Object: "configmaps", Why: "names are not used again"})
	if found := simtest.Find(t, o, body(cleaning{})); found != nil {
		t.Errorf("an exception: found %v", found)
	}
	o.Seeds, o.Properties = seeds(20), simtest.WellBehaved()
	for name, c := range map[string]cleaning{"it updates": {updates: true}, "it is to be there": {keeps: true}, "nobody tells of its reconciles": {silent: true}} {
		t.Run(name, func(t *testing.T) { simtest.Run(t, o, body(c)) })
	}
}

// That something was brought back, and is deleted once more for NoRevival, hides nothing from the properties for which controllers are probed after that.
func TestRevivalHidesNothing(t *testing.T) {
	beacon := coreac.Secret("beacon", "default").WithAnnotations(map[string]string{"lit": "true"})
	light := func(ctx context.Context, config *rest.Config) error {
		secrets := kubernetes.NewForConfigOrDie(config).CoreV1().Secrets("default")
		for ctx.Err() == nil {
			if _, err := secrets.Apply(ctx, beacon, metav1.ApplyOptions{FieldManager: "light", Force: true}); err != nil && ctx.Err() == nil {
				return err
			}
			time.Sleep(time.Minute)
		}
		return nil
	}
	body := func(k inOrderKeeper) func(*simtest.Env) {
		return func(env *simtest.Env) {
			m := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "beacon"}}
			env.Create(m.DeepCopy())
			env.Go("light", func(ctx context.Context) error { return light(ctx, env.RESTConfig("light")) })
			env.Advance(time.Second)
			env.Delete(m)
			k.test(env)
		}
	}
	o := simtest.Options{Seeds: seeds(8), Properties: just(simtest.NoRevival, simtest.NoLostEffect), Mix: "none", CrashProbability: 1e-9}
	simtest.Run(t, o, body(inOrderKeeper{}))
	if found := simtest.Find(t, o, body(inOrderKeeper{notesMaking: true})); found == nil || found.Property != simtest.NoLostEffect {
		t.Fatalf("found %v", found)
	}
}
