package simtest_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// marker is a controller that labels the ConfigMaps that have no label, and may swallow the error of a write that fails. It looks again at all of them every so often, if it does at all,
// or at what has failed after a while, of which it tells, or at each once more in a long time, whether it has failed or not; it gives up after some tries, and it answers only to new ones, if it is told to.
type marker struct {
	swallows     bool
	tries        int // 0 for as many as it takes
	every, later time.Duration
	resync       time.Duration
	onlyNew      bool
	secrets      bool // it labels the Secret of the name, too, and swallows that error
}

func (m marker) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, false)
	if err != nil {
		return err
	}
	defer shutDown()
	if m.every > 0 {
		defer everySo(m.every, func() {
			for _, key := range queue.maps.GetIndexer().ListKeys() {
				queue.Add(key)
			}
		})()
	}
	secrets := queue.factory.Core().V1().Secrets().Informer()
	if m.secrets {
		add := func(obj any) {
			if key, err := cache.DeletionHandlingMetaNamespaceKeyFunc(obj); err == nil {
				queue.Add(key)
			}
		}
		if _, err := secrets.AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}); err != nil {
			return err
		}
		queue.factory.Start(ctx.Done())
	}
	seen := []byte(`{"metadata":{"labels":{"seen":"yes"}}}`)
	done := map[any]bool{}
	for {
		key, down := queue.Get()
		if down {
			return nil
		}
		namespace, name, err := cache.SplitMetaNamespaceKey(fmt.Sprint(key))
		if err != nil {
			return err
		}
		reconcile := func() (time.Duration, error) {
			if s, exists, _ := secrets.GetIndexer().GetByKey(fmt.Sprint(key)); exists && s.(*corev1.Secret).Labels["seen"] == "" {
				_, _ = queue.client.CoreV1().Secrets(namespace).Patch(ctx, name, types.MergePatchType, seen, metav1.PatchOptions{})
			}
			obj, exists, err := queue.maps.GetIndexer().GetByKey(fmt.Sprint(key))
			if err == nil && exists && obj.(*corev1.ConfigMap).Labels["seen"] == "" && !(m.onlyNew && done[key]) {
				_, err = queue.client.CoreV1().ConfigMaps(namespace).Patch(ctx, name, types.MergePatchType, seen, metav1.PatchOptions{})
			}
			done[key] = err == nil
			if err != nil && m.later > 0 {
				queue.AddAfter(key, m.later)
				return m.later, nil
			}
			if m.resync > 0 {
				queue.AddAfter(key, m.resync)
				return m.resync, nil
			}
			return 0, err
		}
		controllerRuntime(simtest.Logger(), name, func() (after time.Duration, failed error) {
			after, err = reconcile()
			return after, err
		})
		if err == nil || m.swallows || m.tries > 0 && queue.NumRequeues(key) >= m.tries {
			queue.Forget(key)
		} else {
			queue.AddRateLimited(key)
		}
		queue.Done(key)
	}
}

// everySo calls f from time to time, until what it returns is called.
func everySo(every time.Duration, f func()) (stop func()) {
	var lock sync.Mutex // of what is below
	var timer *time.Timer
	var stopped bool
	lock.Lock()
	defer lock.Unlock()
	timer = time.AfterFunc(every, func() {
		f()
		lock.Lock()
		defer lock.Unlock()
		if !stopped {
			timer.Reset(every)
		}
	})
	return func() {
		lock.Lock()
		defer lock.Unlock()
		stopped = true
		timer.Stop()
	}
}

// Who swallows the error of a write leaves it undone until something else has it look again. A run shows that without luck: it undoes what was written last, and has the next attempt fail.
func TestNoAbandonedWrite(t *testing.T) {
	only := just(simtest.NoAbandonedWrite)
	o := simtest.Options{Seeds: 10, Properties: only}
	body := func(m marker) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("marks", func(ctx context.Context) error { return m.run(ctx, env.RESTConfig("marks")) })
			env.Create(configMap("a", ""), configMap("b", ""))
			env.Advance(time.Minute)
		}
	}
	for name, m := range map[string]marker{
		"it tries again":                       {},
		"it looks at all every ten minutes":    {swallows: true, every: 10 * time.Minute},
		"it looks at it again in an hour":      {later: time.Hour},
		"it looks at it again tomorrow":        {later: 24 * time.Hour},
		"it looks at each once an hour":        {resync: time.Hour},
		"it does not answer to what is undone": {onlyNew: true},
		"it tries again for minutes":           {tries: 15}, // as many of Kubernetes' own controllers do
	} {
		t.Run(name, func(t *testing.T) { simtest.Run(t, o, body(m)) })
	}
	found := simtest.Find(t, o, body(marker{swallows: true}))
	if found == nil || found.Property != simtest.NoAbandonedWrite {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "marks changes metadata.labels.seen of configmaps default/", "only when its informers have listed anew", "somebody undoes what had been written of configmaps default/",
		"which fails: 500", "is told anew of what there is", "because")
	t.Logf("seed %d: %s", found.Seed, found.Text)
	found = simtest.Find(t, o, body(marker{tries: 5})) // as client-go's example of a work queue does
	if found == nil || found.Property != simtest.NoAbandonedWrite {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "had failed 6 times within 155ms, the last time ")
	t.Logf("seed %d: %s", found.Seed, found.Text)

	// Who looks at each once a day, whether it has failed or not, has swallowed the error.
	found = simtest.Find(t, o, body(marker{resync: 24 * time.Hour}))
	if found == nil || found.Property != simtest.NoAbandonedWrite {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "marks changes metadata.labels.seen of configmaps default/", "was to be tried again after 24h0m0s, as when nothing has failed")
	t.Logf("seed %d: %s", found.Seed, found.Text)

	// Of one object at a time, or the write that it tries again would have it try the other one, too.
	found = simtest.Find(t, o, func(env *simtest.Env) {
		env.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}})
		body(marker{secrets: true})(env)
	})
	if found == nil || found.Property != simtest.NoAbandonedWrite {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "marks changes metadata.labels.seen of secrets default/a ")
	t.Logf("seed %d: %s", found.Seed, found.Text)
}
