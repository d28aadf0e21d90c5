package simtest_test

import (
	"context"
	"fmt"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/workqueue"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// copying gives each ConfigMap a Secret of its name. Failed says what it does about a failure, and named makes another name of it.
type copying struct {
	named  func(string) string
	tell   func(key string) func(error)
	failed func(queue workqueue.RateLimitingInterface, key string, err error)
}

func (c *copying) run(ctx context.Context, config *rest.Config) error {
	queue, shutDown, err := newMapQueue(ctx, config, false)
	if err != nil {
		return err
	}
	defer shutDown()
	queue.factory.WaitForCacheSync(ctx.Done())
	for {
		item, down := queue.Get()
		if down {
			return nil
		}
		key := fmt.Sprint(item)
		end := c.tell(key)
		namespace, name, _ := strings.Cut(key, "/")
		_, err := queue.client.CoreV1().Secrets(namespace).Create(ctx, &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Name: c.named(name)}}, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) {
			err = nil
		}
		if end(err); err != nil {
			c.failed(queue, key, err)
		} else {
			queue.Forget(item)
		}
		queue.Done(item)
	}
}

func copyingBody(named func(string) string, failed func(queue workqueue.RateLimitingInterface, key string, err error)) func(*simtest.Env) {
	return func(env *simtest.Env) {
		c := copying{named, func(key string) func(error) { return env.Reconciling("copier", "configmaps "+key) }, failed}
		env.Go("copies", func(ctx context.Context) error { return c.run(ctx, env.RESTConfig("copies")) })
		for n := range 6 {
			env.Create(configMap(fmt.Sprint("m", n), ""))
			env.Advance(time.Duration(env.Rand().IntN(20)) * time.Second)
		}
		env.Delete(configMap("m0", ""))
	}
}

// A reconcile that failed for a reason that passes, and that nobody tries again, is found.
func TestNoForgottenFailure(t *testing.T) {
	o := simtest.Options{Seeds: 20, Properties: simtest.WellBehaved()}
	gives := func(workqueue.RateLimitingInterface, string, error) {}
	found := simtest.Find(t, o, copyingBody(strings.ToLower, gives))
	if found == nil || found.Property != simtest.NoForgottenFailure {
		t.Fatalf("found %v", found)
	}
	wantIn(t, found.Text, "copier failed to reconcile configmaps default/m", "It had failed for a reason that passes, of which nothing tells it: ", "copies is told: ", "copier has reconciled configmaps default/m")

	o.Properties = simtest.WellBehaved(
		simtest.Exception{Property: simtest.NoForgottenFailure, Client: "copier", Why: "it gives up"}, simtest.Exception{Property: simtest.NoForgottenChange, Client: "copies", Why: "it gives up"})
	if found := simtest.Find(t, o, copyingBody(strings.ToLower, gives)); found != nil {
		t.Errorf("an exception: found %v", found)
	}
}

// Whoever tries again is right, with any backoff, and so is who lets go what is refused for good.
func TestNoForgottenFailureSpares(t *testing.T) {
	for name, failed := range map[string]func(queue workqueue.RateLimitingInterface, key string, err error){
		"backs off": func(queue workqueue.RateLimitingInterface, key string, _ error) { queue.AddRateLimited(key) },
		"waits": func(queue workqueue.RateLimitingInterface, key string, _ error) {
			queue.AddAfter(key, 1000*time.Second)
		},
	} {
		t.Run(name, func(t *testing.T) {
			simtest.Run(t, simtest.Options{Seeds: seeds(40), Properties: simtest.WellBehaved()}, copyingBody(strings.ToLower, failed))
		})
	}
	refused := copyingBody(strings.ToUpper, func(workqueue.RateLimitingInterface, string, error) {})
	simtest.Run(t, simtest.Options{Seeds: 4, Mix: "none", Properties: simtest.WellBehaved()}, refused)
}

// A program may stop one of its controllers, with what that has still to do, as when a tenant is gone: nobody is to try again then.
func TestNoForgottenFailureKnowsWhatHasStopped(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 10, Mix: "none", Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		again := func(queue workqueue.RateLimitingInterface, key string, _ error) { queue.AddRateLimited(key) }
		c := copying{strings.ToLower, func(key string) func(error) { return env.Reconciling("copier", "configmaps "+key) }, again}
		env.Go("copies", func(ctx context.Context) error {
			meanwhile, cancel := context.WithTimeout(ctx, time.Minute)
			defer cancel()
			if err := c.run(meanwhile, env.RESTConfig("copies")); err != nil {
				return err
			}
			<-ctx.Done()
			return nil
		})
		env.Settle()
		env.Inject(fault.Fault{Kind: fault.WriteReset, Target: "copies", Count: fault.Lasting})
		env.Create(configMap("m", ""))
		env.Advance(2 * time.Minute)
	})
}
