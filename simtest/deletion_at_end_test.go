package simtest_test

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/simtest"
)

// ending is a controller that puts a finalizer on ConfigMaps, or an annotation, and does not do right by those that go.
type ending struct {
	holds     bool // it never takes the finalizer off
	complains bool // what has gone is an error, each time
	spins     bool // what has gone is looked at again at once
}

func (c ending) run(ctx context.Context, config *rest.Config, env *simtest.Env) error {
	queue, shutDown, err := newMapQueue(ctx, config, true)
	if err != nil {
		return err
	}
	defer shutDown()
	queue.factory.WaitForCacheSync(ctx.Done())
	work(queue, func(key string) (err error) {
		end := env.Reconciling("ending", "configmaps "+key)
		defer func() { end(err) }()
		obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
		switch {
		case err != nil:
			return err
		case !exists && c.complains:
			return errors.New("there is nothing to work on")
		case !exists && c.spins:
			queue.AddAfter(key, 50*time.Millisecond)
			return nil
		case !exists || strings.HasSuffix(key, "/ignored"):
			return nil
		}
		m := obj.(*corev1.ConfigMap).DeepCopy()
		switch held := slices.Contains(m.Finalizers, kept); {
		case m.DeletionTimestamp != nil && held && !c.holds:
			m.Finalizers = slices.DeleteFunc(m.Finalizers, func(f string) bool { return f == kept })
		case m.DeletionTimestamp != nil || held:
			return nil
		default:
			m.Finalizers = append(m.Finalizers, kept)
		}
		_, err = queue.client.CoreV1().ConfigMaps(m.Namespace).Update(ctx, m, metav1.UpdateOptions{})
		return err
	})
	return nil
}

// What a controller does about an end is judged although the test deletes nothing: some runs do so when the body has ended.
func TestNoFinalizerLeftAtTheEnd(t *testing.T) {
	body := func(c ending, deletes bool, more ...simtest.Object) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("ending", func(ctx context.Context) error { return c.run(ctx, env.RESTConfig("ending"), env) })
			env.Create(configMap("a", "one"), configMap("b", "one"), configMap("ignored", "one"))
			env.Create(more...)
			env.Advance(time.Minute)
			if deletes {
				env.Delete(configMap("ignored", ""))
				env.Advance(time.Minute)
			}
		}
	}
	o := simtest.Options{Seeds: 4, Mix: "none", CrashProbability: 1e-9, Properties: simtest.WellBehaved()}
	for property, c := range map[string]ending{simtest.NoFinalizerLeft: {holds: true}, simtest.NoEndlessError: {complains: true}, simtest.NoHotReconcile: {spins: true}} {
		found := simtest.Find(t, o, body(c, false))
		if found == nil || found.Property != property {
			t.Errorf("found %v, want %s", found, property)
			continue
		}
		wantIn(t, found.Text, "what the run deleted when the body had ended\n", "configmaps default/b: the test deletes no configmaps by itself, and a controller has done something about this one")
	}
	simtest.Run(t, o, body(ending{}, false))
	o.Mix, o.CrashProbability, o.Seeds = "", 0, max(4, seeds(20))
	simtest.Run(t, o, body(ending{}, false))

	// It is only done where the test deletes none itself, and to what nothing else of the test's names.
	o = simtest.Options{Seeds: 4, Mix: "none", Properties: just(simtest.NoFinalizerLeft)}
	names := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "names", Labels: map[string]string{"for": "b", "and-for": "a"}}}
	simtest.Run(t, o, body(ending{holds: true}, true))
	simtest.Run(t, o, body(ending{holds: true}, false, names))
}
