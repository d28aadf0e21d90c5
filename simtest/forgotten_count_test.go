package simtest_test

import (
	"context"
	"strconv"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"

	"github.com/informersim/informersim/simtest"
)

// census is a controller that writes into a label of the ConfigMap "total" how many others there are. It may overlook that one is gone, and may write instead how often it has looked.
type census struct{ overlooks, looks bool }

func (c census) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, !c.overlooks)
	if err != nil {
		return err
	}
	defer shutDown()
	queue.factory.WaitForCacheSync(ctx.Done())
	work(queue, func(key string) error {
		if key == "default/total" && c.looks {
			return nil
		}
		obj, exists, err := queue.maps.GetIndexer().GetByKey("default/total")
		if err != nil || !exists {
			return err
		}
		total := obj.(*corev1.ConfigMap).DeepCopy()
		count := len(queue.maps.GetIndexer().ListKeys()) - 1
		if c.looks {
			count, _ = strconv.Atoi(total.Labels["count"])
			count++
		}
		if total.Labels["count"] == strconv.Itoa(count) {
			return nil
		}
		total.Labels = map[string]string{"count": strconv.Itoa(count)}
		_, err = queue.client.CoreV1().ConfigMaps("default").Update(ctx, total, metav1.UpdateOptions{})
		return err
	})
	return nil
}

// A count that is wrong until the informers list anew shows what was overlooked, unless it is another one each time that they do.
func TestNoForgottenChangeOfCounts(t *testing.T) {
	only := just(simtest.NoForgottenChange)
	o := simtest.Options{Seeds: 10, Properties: only}
	body := func(c census) func(*simtest.Env) {
		return func(env *simtest.Env) {
			env.Go("counts", func(ctx context.Context) error { return c.run(ctx, env.RESTConfig("counts")) })
			env.Create(configMap("total", ""), configMap("a", ""), configMap("b", ""))
			env.Advance(time.Minute)
			env.Delete(configMap("a", ""))
			env.Advance(time.Minute)
		}
	}
	for name, c := range map[string]census{"it is right": {}, "it counts how often it looks": {looks: true}} {
		t.Run(name, func(t *testing.T) { simtest.Run(t, o, body(c)) })
	}
	found := simtest.Find(t, o, body(census{overlooks: true}))
	if found == nil || found.Property != simtest.NoForgottenChange {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, `counts changes metadata.labels.count of configmaps default/total to "1" only when its informers have listed anew`, "workload commits DELETED of configmaps default/a")
	t.Logf("seed %d: %s", found.Seed, found.Text)
}
