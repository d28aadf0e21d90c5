package simtest_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// twin is one of two processes that do the same without a leader: a Secret of each ConfigMap has its content, as the informer knows it, whoever has written it last. It takes a second for each look.
type twin struct {
	name  string
	signs bool // it adds its name to the content, so the two never agree
}

func (k twin) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, false)
	if err != nil {
		return err
	}
	defer shutDown()
	list, err := queue.watchSecrets(ctx, func(s *corev1.Secret) { queue.Add(s.Namespace + "/" + s.Name) })
	if err != nil {
		return err
	}
	secrets := queue.client.CoreV1().Secrets(metav1.NamespaceDefault)
	work(queue, func(key string) error {
		time.Sleep(time.Second)
		obj, exists, err := queue.maps.GetIndexer().GetByKey(key)
		if err != nil || !exists || ctx.Err() != nil {
			return err
		}
		m := obj.(*corev1.ConfigMap)
		want := m.Data["v"]
		if k.signs {
			want += " by " + k.name
		}
		for _, s := range list() {
			if s.Name != m.Name || string(s.Data["kind"]) == want {
				continue
			}
			s = s.DeepCopy()
			s.Data = map[string][]byte{"kind": []byte(want)}
			_, err = secrets.Update(ctx, s, metav1.UpdateOptions{})
			return err
		}
		return nil
	})
	return nil
}

// Two who do the same work differ for as long as one of them has not heard of a change: that is no war, and ends when it hears of it. What they do to one another when both have heard is one.
func TestNoWriteWarOfOneBehind(t *testing.T) {
	body := func(signs bool) func(*simtest.Env) {
		return func(env *simtest.Env) {
			for _, name := range []string{"east", "west"} {
				env.Go(name, func(ctx context.Context) error { return twin{name, signs}.run(ctx, env.RESTConfig(name)) })
			}
			env.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "a"}}, configMap("a", "red"))
			env.Advance(10 * time.Second)
			env.Inject(fault.Fault{Kind: fault.WatchDelay, Target: "west", Resource: "configmaps", Count: -1, Duration: 30 * time.Second})
			m := configMap("a", "")
			env.Mutate(m, func() { m.Data["v"] = "blue" })
			env.Advance(time.Minute)
			if s := (&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: metav1.NamespaceDefault, Name: "a"}}); !signs {
				env.Eventually("the Secret is blue", time.Minute, func() error {
					if err := env.Get(s); err != nil || string(s.Data["kind"]) != "blue" {
						return fmt.Errorf("it is %s, %v", s.Data["kind"], err)
					}
					return nil
				})
			}
		}
	}
	for _, ready := range [][]simtest.Property{just(simtest.NoWriteWar), simtest.WellBehaved()} {
		o := simtest.Options{Seeds: seeds(8), Properties: ready, Mix: "none"}
		simtest.Run(t, o, body(false))
		found := simtest.Find(t, o, body(true))
		if found == nil || found.Property != simtest.NoWriteWar {
			t.Fatalf("found %v", found)
		}
		wantIn(t, found.Text, "data.kind of secrets default/a goes to and fro", "6 times within ", "nothing else has changed that could be the reason")
	}
}
