package simtest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// strayRemover is a controller that deletes ConfigMaps whose Secret, of the same name, is not there. It asks the API for that.
type strayRemover struct {
	guesses bool // takes any error for its absence
	says    bool // notes in an annotation that it could not read
	beside  bool // reads something else meanwhile
}

func (k strayRemover) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, true)
	if err != nil {
		return err
	}
	defer shutDown()
	queue.factory.WaitForCacheSync(ctx.Done())
	work(queue, func(key string) error {
		obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
		if err != nil || !exists {
			return err
		}
		ns, name, _ := cache.SplitMetaNamespaceKey(key)
		maps := queue.client.CoreV1().ConfigMaps(ns)
		if k.beside {
			go func() { _, _ = queue.client.CoreV1().Secrets(ns).Get(ctx, "beside", metav1.GetOptions{}) }()
		}
		_, err = queue.client.CoreV1().Secrets(ns).Get(ctx, name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) || err != nil && k.guesses {
			if err := maps.Delete(ctx, name, metav1.DeleteOptions{}); !apierrors.IsNotFound(err) {
				return err
			}
			return nil
		}
		if err != nil && k.says {
			m := obj.(*corev1.ConfigMap).DeepCopy()
			m.Annotations = map[string]string{"unreadable": "yes"}
			if _, err := maps.Update(ctx, m, metav1.UpdateOptions{}); err != nil {
				return err
			}
		}
		return err
	})
	return nil
}

// tick makes a Secret every half a minute, and removes the one before, whatever it reads in between.
func tick(ctx context.Context, config *rest.Config) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	secrets := client.CoreV1().Secrets("default")
	for ctx.Err() == nil {
		now := time.Now().Unix() / 30
		_, _ = client.CoreV1().ConfigMaps("default").Get(ctx, "a", metav1.GetOptions{})
		_, _ = secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("at-", now)}}, metav1.CreateOptions{})
		_ = secrets.Delete(ctx, fmt.Sprint("at-", now-1), metav1.DeleteOptions{})
		select {
		case <-ctx.Done():
		case <-time.After(30 * time.Second):
		}
	}
	return ctx.Err()
}

// countLooks has a controller make a Secret each time it has looked at a ConfigMap, from the third time on. Whether it can read another Secret meanwhile is all the same to it.
func countLooks(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, false)
	if err != nil {
		return err
	}
	defer shutDown()
	secrets, looks := queue.client.CoreV1().Secrets("default"), 0
	work(queue, func(string) error {
		_, _ = secrets.Get(ctx, "other", metav1.GetOptions{})
		if looks++; looks < 3 {
			return nil
		}
		_, err := secrets.Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprint("look-", looks)}}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	return nil
}

func (k strayRemover) test(env *simtest.Env) {
	env.Go("remover", func(ctx context.Context) error { return k.run(ctx, env.RESTConfig("remover")) })
	env.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}}, configMap("a", ""), configMap("b", ""))
	env.Advance(time.Minute)
}

// Whoever takes an error for "not found" deletes what is wanted, and makes what is there, as soon as a read fails. A run has gets fail while a controller looks at everything.
func TestNoMistakenAbsence(t *testing.T) {
	for _, ready := range [][]simtest.Property{just(simtest.NoMistakenAbsence), simtest.WellBehaved()} {
		o := simtest.Options{Seeds: seeds(8), Properties: ready, Mix: "none", CrashProbability: 1e-9}
		simtest.Run(t, o, strayRemover{}.test)
		found := simtest.Find(t, o, strayRemover{guesses: true}.test)
		if found == nil || found.Property != simtest.NoMistakenAbsence {
			t.Fatalf("found %v", found)
		}
		wantIn(t, found.Text, "remover deletes configmaps default/a when its get of secrets fails", "/secrets/a, which fails: 500", "apierrors.IsNotFound")
		t.Logf("seed %d: %s", found.Seed, found.Message)
	}
	// What fails at the same time, and was not answered yet, is not the reason.
	found := simtest.Find(t, simtest.Options{Seeds: 8, Properties: just(simtest.NoMistakenAbsence), Mix: "none"}, strayRemover{guesses: true, beside: true}.test)
	if found == nil {
		t.Fatal("not found beside another read")
	}
	wantIn(t, found.Text, "remover deletes configmaps default/a when its get of secrets fails", "/secrets/a, which fails: 500")
	// Whoever makes and removes something from time to time does so while a read fails, too.
	simtest.Run(t, simtest.Options{Seeds: seeds(8), Properties: just(simtest.NoMistakenAbsence), Mix: "none"}, func(env *simtest.Env) {
		env.Go("clock", func(ctx context.Context) error { return tick(ctx, env.RESTConfig("clock")) })
		env.Create(configMap("a", ""))
		env.Advance(5 * time.Minute)
	})
	// That it could not read may be said.
	simtest.Run(t, simtest.Options{Seeds: seeds(8), Properties: just(simtest.NoMistakenAbsence)}, strayRemover{says: true}.test)
	// What comes to be written just then, but would be written, too, if the get were answered, is no mistake.
	simtest.Run(t, simtest.Options{Seeds: seeds(8), Properties: just(simtest.NoMistakenAbsence), Mix: "none", CrashProbability: 1e-9}, func(env *simtest.Env) {
		env.Go("looks", func(ctx context.Context) error { return countLooks(ctx, env.RESTConfig("looks")) })
		env.Create(configMap("a", ""))
		env.Advance(time.Minute)
	})
}
