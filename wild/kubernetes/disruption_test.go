package kubernetes_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	budgetHolds = "evictions leave as many healthy Pods as the budget asks for"
	budgetTrue  = "the budget's status is what the Pods are"
)

const (
	guarded = 5 // Pods
	atLeast = 3 // of them healthy
)

// budget starts the controller with Pods that are ready, and a budget for them.
func budget(env *simtest.Env) {
	env.Create(&policyv1.PodDisruptionBudget{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b"},
		Spec:       policyv1.PodDisruptionBudgetSpec{MinAvailable: ptr.To(intstr.FromInt32(atLeast)), Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "a"}}},
	})
	replace(env)
	env.Eventually("the Pods are healthy", 3*time.Hour, func() error {
		n, err := healthy(env)
		if err == nil && n < guarded {
			err = fmt.Errorf("%d of %d Pods are healthy", n, guarded)
		}
		return err
	})
	start(env, "disruption", wild.Disruptions)
	env.Always(budgetHolds, func() error {
		if n, err := healthy(env); err == nil && n < atLeast {
			return fmt.Errorf("%d of %d Pods are healthy", n, guarded)
		}
		return nil
	})
}

// replace creates the Pods that are not there.
func replace(env *simtest.Env) {
	for n := range guarded {
		p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("p-%d", n), Labels: map[string]string{"app": "a"}}}
		if env.Get(p) != nil {
			p.Spec = template(nil, corev1.RestartPolicyAlways).Spec
			env.Create(p)
		}
	}
}

// evict tries to evict a Pod.
func evict(env *simtest.Env, n int) {
	client, err := kubernetes.NewForConfig(env.RESTConfig("user"))
	if err == nil {
		_ = client.CoreV1().Pods("default").EvictV1(env.Context(), &policyv1.Eviction{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("p-%d", n)}, DeleteOptions: &metav1.DeleteOptions{GracePeriodSeconds: ptr.To[int64](0)},
		})
	}
}

func healthy(env *simtest.Env) (n int, err error) {
	var pods corev1.PodList
	if err := env.List(&pods, "default"); err != nil {
		return 0, err
	}
	for i := range pods.Items {
		if isAvailable(&pods.Items[i]) {
			n++
		}
	}
	return n, nil
}

// Whatever happens to the controller, evictions never go below the budget, and in the end its status is true.
func TestDisruption(t *testing.T) {
	simtest.Run(t, simtest.Options{Nodes: 3, Stages: []string{"pod"}, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		budget(env)
		for range 25 {
			evict(env, env.Rand().IntN(guarded))
			pause(env, 10*time.Second)
			if env.Rand().IntN(3) == 0 {
				replace(env)
			}
		}
		env.StopFaults()
		replace(env)
		env.Eventually(budgetTrue, time.Hour, func() error {
			n, err := healthy(env)
			if err != nil {
				return err
			}
			b := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b"}}
			if err := env.Get(b); err != nil {
				return err
			}
			if n != guarded || b.Status.CurrentHealthy != guarded || b.Status.DisruptionsAllowed != guarded-atLeast {
				return fmt.Errorf("%d Pods are healthy, the status is %+v", n, b.Status)
			}
			return nil
		})
	})
}

// A Pod that was evicted is expected to be seen going within two minutes. A controller whose watch of Pods stands still for longer takes it for
// healthy again, and allows another eviction.
func TestStalledWatchAllowsEvictions(t *testing.T) {
	wantFound(t, simtest.Options{Seeds: 20, Mix: "none", Nodes: 3, Stages: []string{"pod"}}, func(env *simtest.Env) {
		budget(env)
		env.Advance(10 * time.Second)
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "disruption", Resource: "pods", Duration: 10 * time.Minute})
		for n := range guarded {
			evict(env, n)
			env.Advance(3 * time.Minute)
		}
	}, budgetHolds)
}
