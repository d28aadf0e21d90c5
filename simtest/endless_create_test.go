package simtest_test

import (
	"context"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/simtest"
)

// issuing is a controller that makes a Secret for each ConfigMap, if its informer of Secrets, which has a selector, does not have it.
type issuing struct {
	labels   map[string]string // of what it makes
	protobuf bool
	blindly  time.Duration // it looks at none, but makes each one again so often, and takes that there is one for an answer
}

func (i issuing) run(ctx context.Context, config *rest.Config) error {
	if i.protobuf {
		config.ContentType = "application/vnd.kubernetes.protobuf"
	}
	queue, shutDown, err := newMapQueue(ctx, config, true)
	if err != nil {
		return err
	}
	defer shutDown()
	selected := informers.NewSharedInformerFactoryWithOptions(queue.client, 0, informers.WithTweakListOptions(func(o *metav1.ListOptions) { o.LabelSelector = "issued=yes" }))
	secrets := selected.Core().V1().Secrets().Informer()
	selected.Start(ctx.Done())
	defer selected.Shutdown()
	if i.blindly > 0 {
		defer everySo(i.blindly, func() {
			for _, key := range queue.maps.GetIndexer().ListKeys() {
				queue.Add(key)
			}
		})()
	}
	if !cache.WaitForCacheSync(ctx.Done(), queue.maps.HasSynced, secrets.HasSynced) {
		return nil
	}
	work(queue, func(key string) error {
		obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
		if err != nil || !exists {
			return err
		}
		if _, exists, err := secrets.GetIndexer().GetByKey(key); err != nil || exists && i.blindly == 0 {
			return err
		}
		m := obj.(*corev1.ConfigMap)
		_, err = queue.client.CoreV1().Secrets(m.Namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: m.Namespace, Name: m.Name, Labels: i.labels}}, metav1.CreateOptions{})
		if i.blindly > 0 && apierrors.IsAlreadyExists(err) {
			return nil
		}
		return err
	})
	return nil
}

// Who creates what it has made, again and again and later each time, does not see it. One whose name is somebody else's may wait for as long as it likes, and so may one that asks by a create.
func TestNoEndlessErrorFindsCreatesOfItsOwn(t *testing.T) {
	body := func(i issuing, before ...string) func(*simtest.Env) {
		return func(env *simtest.Env) {
			for _, name := range before {
				env.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}})
			}
			env.Go("issues", func(ctx context.Context) error { return i.run(ctx, env.RESTConfig("issues")) })
			env.Create(configMap("a", ""), configMap("b", ""))
			env.Advance(time.Minute)
		}
	}
	yes := map[string]string{"issued": "yes"}
	o := simtest.Options{Seeds: 20, Properties: simtest.WellBehaved()}
	for _, protobuf := range []bool{false, true} {
		found := simtest.Find(t, o, body(issuing{protobuf: protobuf}))
		if found == nil || found.Property != simtest.NoEndlessError {
			t.Fatalf("found %v", found)
		}
		t.Logf("seed %d", found.Seed)
		wantIn(t, found.Text, "issues creates secrets default/", " again and again, although it has made it with the same request: ", "it waits twice as long each time", "issues makes secrets default/",
			"issues sends POST /api/v1/namespaces/default/secrets for secrets default/", "and is told: 409 AlreadyExists: secrets ", "because")
		o := o
		o.Seeds, o.Properties = int(found.Seed), simtest.WellBehaved(simtest.Exception{Property: simtest.NoEndlessError, Client: "issues", Object: "secrets", Why: "it waits for a person"})
		if found := simtest.Find(t, o, body(issuing{protobuf: protobuf})); found != nil {
			t.Errorf("an exception: found %v", found)
		}
	}
	o.Seeds = seeds(12)
	simtest.Run(t, o, body(issuing{labels: yes}))
	simtest.Run(t, o, body(issuing{labels: yes}, "a"))
	simtest.Run(t, o, body(issuing{labels: yes, blindly: 2 * time.Minute}))
	simtest.Run(t, o, body(issuing{blindly: 2 * time.Minute}))
}
