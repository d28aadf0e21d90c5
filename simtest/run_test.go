package simtest_test

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

func configMap(name, value string) *corev1.ConfigMap {
	return &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: name, Namespace: "default"}, Data: map[string]string{"v": value}}
}

// mirror runs an informer of ConfigMaps until its context ends.
func mirror(env *simtest.Env, name string, indexer *cache.Indexer) func(context.Context) error {
	return func(ctx context.Context) error {
		client, err := kubernetes.NewForConfig(env.RESTConfig(name))
		if err != nil {
			return err
		}
		factory := informers.NewSharedInformerFactory(client, 0)
		informer := factory.Core().V1().ConfigMaps().Informer()
		*indexer = informer.GetIndexer()
		factory.Start(ctx.Done())
		if !cache.WaitForCacheSync(ctx.Done(), informer.HasSynced) {
			return ctx.Err()
		}
		<-ctx.Done()
		factory.Shutdown()
		return nil
	}
}

// converged compares a cache with the Store.
func converged(env *simtest.Env, indexer cache.Indexer) error {
	var list corev1.ConfigMapList
	if err := env.List(&list, ""); err != nil {
		return err
	}
	var want, got []string
	for _, m := range list.Items {
		want = append(want, m.Name+"@"+m.ResourceVersion)
	}
	if indexer == nil {
		return fmt.Errorf("there is no cache yet")
	}
	for _, o := range indexer.List() {
		m := o.(*corev1.ConfigMap)
		got = append(got, m.Name+"@"+m.ResourceVersion)
	}
	slices.Sort(got)
	slices.Sort(want)
	if !slices.Equal(got, want) {
		return fmt.Errorf("the cache has %v, the server %v", got, want)
	}
	return nil
}

func workload(env *simtest.Env) {
	for i := range 5 {
		env.Create(configMap(fmt.Sprintf("m%d", i), "0"))
	}
	for i := range 10 {
		env.Advance(time.Duration(env.Rand().IntN(5000)) * time.Millisecond)
		m := configMap(fmt.Sprintf("m%d", env.Rand().IntN(5)), fmt.Sprint(i))
		if env.Get(m.DeepCopy()) != nil {
			env.Create(m)
		} else if env.Rand().IntN(3) == 0 {
			env.Delete(m)
		} else {
			env.Update(m)
		}
	}
}

func TestInformerConverges(t *testing.T) {
	for _, mix := range []string{"none", "default", "storm"} {
		t.Run(mix, func(t *testing.T) {
			simtest.Run(t, simtest.Options{Mix: mix, Replicas: 2}, func(env *simtest.Env) {
				var indexer cache.Indexer
				env.Go("mirror", mirror(env, "mirror", &indexer))
				workload(env)
				env.StopFaults()
				env.Eventually("the cache is what the server has", 25*time.Minute, func() error { return converged(env, indexer) })
			})
		})
	}
}

// A process's first run has one processor like all others, or its goroutines would run at the same time.
func TestFirstRunHasOneProcessor(t *testing.T) {
	aside(t)
	if !isChild() {
		if out, err := childIn(t, t.TempDir(), "GOMAXPROCS=2"); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	simtest.Run(t, simtest.Options{Seeds: 2, Mix: "none"}, func(env *simtest.Env) {
		if n := runtime.GOMAXPROCS(0); n != 1 {
			t.Errorf("the run of seed %d has %d processors", env.Seed(), n)
		}
	})
	if n := runtime.GOMAXPROCS(0); n != 2 {
		t.Errorf("there are %d processors afterwards", n)
	}
}
