package simtest_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/client-go/util/workqueue"

	"github.com/informersim/informersim/simtest"
)

// conditions are two controllers in one process, each of which has a condition in the status of Services: a patch of all conditions, computed from the cache that they share.
type conditions struct {
	told    bool // the test tells of their reconciles, by their names
	version bool // the patch has the resourceVersion of what it was computed from
}

func (c conditions) run(ctx context.Context, config *rest.Config, env *simtest.Env) error {
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return err
	}
	factory := informers.NewSharedInformerFactory(client, 0)
	defer factory.Shutdown()
	services := factory.Core().V1().Services()
	for _, kind := range []string{"Accepted", "Synced"} {
		queue := workqueue.NewRateLimitingQueue(workqueue.DefaultControllerRateLimiter())
		add := func(obj any) {
			if s, is := obj.(*corev1.Service); is {
				queue.Add(s.Name)
			}
		}
		if _, err := services.Informer().AddEventHandler(cache.ResourceEventHandlerFuncs{AddFunc: add, UpdateFunc: func(_, obj any) { add(obj) }}); err != nil {
			return err
		}
		context.AfterFunc(ctx, queue.ShutDown)
		go work(queue, func(name string) (err error) {
			if c.told {
				end := env.Reconciling(kind, "services default/"+name)
				defer func() { end(err) }()
			}
			s, err := services.Lister().Services("default").Get(name)
			if err != nil {
				return nil
			}
			s = s.DeepCopy()
			if has := apimeta.FindStatusCondition(s.Status.Conditions, kind); has != nil && has.Message == s.Labels["n"] {
				return nil
			}
			apimeta.SetStatusCondition(&s.Status.Conditions, metav1.Condition{Type: kind, Status: metav1.ConditionTrue, Reason: "Seen", Message: s.Labels["n"]})
			patch := map[string]any{"status": map[string]any{"conditions": s.Status.Conditions}}
			if c.version {
				patch["metadata"] = map[string]any{"resourceVersion": s.ResourceVersion}
			}
			data, err := json.Marshal(patch)
			if err != nil {
				return err
			}
			_, err = client.CoreV1().Services("default").Patch(ctx, name, types.MergePatchType, data, metav1.PatchOptions{}, "status")
			return err
		})
	}
	factory.Start(ctx.Done())
	<-ctx.Done()
	return nil
}

// Of two controllers in one process, one may take back what the other has written, which shows only where a test tells which of them reconciles.
func TestNoLostCondition(t *testing.T) {
	o := simtest.Options{Seeds: 10, Properties: just(simtest.NoLostUpdate)}
	for name, test := range map[string]struct {
		conditions
		found bool
	}{
		"told":                         {conditions{told: true}, true},
		"told, with a resourceVersion": {conditions{told: true, version: true}, false},
		"not told":                     {conditions{}, false},
	} {
		t.Run(name, func(t *testing.T) {
			f := simtest.Find(t, o, func(env *simtest.Env) {
				s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a"}, Spec: corev1.ServiceSpec{Ports: []corev1.ServicePort{{Port: 80}}}}
				env.Create(s)
				env.Go("services", func(ctx context.Context) error { return test.run(ctx, env.RESTConfig("services"), env) })
				for n := range 6 {
					if env.Get(s) == nil {
						env.Mutate(s, func() { s.Labels = map[string]string{"n": fmt.Sprint(n)} })
					}
					env.Advance(time.Duration(env.Rand().IntN(3000)) * time.Millisecond)
				}
			})
			if (f != nil) != test.found {
				t.Fatalf("found %v", f)
			}
			if f != nil {
				t.Log(f.Message)
				wantIn(t, f.Text, "FAIL  NoLostUpdate", " of services takes back what ", " of services has written: it has put ", " into the list status.conditions of services default/a, and that is not there any more",
					"has neither a resourceVersion nor a test", ", which has been told of services up to RV ")
			}
		})
	}
}
