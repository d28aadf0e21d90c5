package kubernetes_test

import (
	"errors"
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const endpointsSelected = "the Endpoints of a Service are the Pods that it selects"

// Whatever happens, in the end the Endpoints of each Service are the Pods that it selects, ready or not as they are. The controller gives up a Service after fifteen
// tries, which is a finding of its own; so it is started again before the end.
func TestEndpoints(t *testing.T) {
	simtest.Run(t, simtest.Options{Nodes: 3, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		services(env)
		start(env, "endpoints", wild.Endpoints)
		for range 20 {
			disturbEndpoints(env)
			pause(env, 10*time.Second)
		}
		startAnew(env, "endpoints")
		env.Eventually(endpointsSelected, time.Hour, func() error { return endpointsAre(env) })
	})
}

// A Service whose Endpoints cannot be written is tried again fifteen times, at first after five milliseconds, and forgotten after less than three minutes. Nothing but
// another change of its Pods, or a restart, makes the controller look at it again.
func TestEndpointsAreGivenUp(t *testing.T) {
	wantFound(t, simtest.Options{Nodes: 2, Stages: []string{"pod"}, Mix: "none", Seeds: 20}, func(env *simtest.Env) {
		services(env)
		env.Create(podOf("p-0", "0"), podOf("p-1", "1"))
		start(env, "endpoints", wild.Endpoints)
		env.Advance(time.Minute)
		env.Eventually(endpointsSelected, time.Hour, func() error { return endpointsAre(env) })
		env.Inject(fault.Fault{Kind: fault.Write503, Target: "endpoints", Resource: "endpoints", Count: fault.Lasting})
		relabel(env, podOf("p-0", "0"), map[string]string{"app": "1"})
		env.Advance(4 * time.Minute)
		env.StopFaults()
		env.Eventually(endpointsSelected, time.Hour, func() error { return endpointsAre(env) })
	}, endpointsSelected)
}

// services creates two, which select the Pods labelled 0 and 1.
func services(env *simtest.Env) {
	for n := range 2 {
		env.Create(&corev1.Service{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("s-%d", n)},
			Spec:       corev1.ServiceSpec{Selector: map[string]string{"app": fmt.Sprint(n)}, Ports: []corev1.ServicePort{{Port: 80}}},
		})
	}
}

func podOf(name, app string) *corev1.Pod {
	return &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": app}},
		Spec:       template(nil, corev1.RestartPolicyAlways).Spec,
	}
}

func endpointsAre(env *simtest.Env) error {
	var services corev1.ServiceList
	var endpoints corev1.EndpointsList
	var pods corev1.PodList
	if err := errors.Join(env.List(&services, "default"), env.List(&endpoints, "default"), env.List(&pods, "default")); err != nil {
		return err
	}
	want, have := map[string]string{}, map[string]string{}
	for _, s := range services.Items {
		for i := range pods.Items {
			p := &pods.Items[i]
			if p.Labels["app"] == s.Spec.Selector["app"] && p.Status.PodIP != "" && p.DeletionTimestamp == nil && p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded {
				want[s.Name+" "+p.Status.PodIP] = fmt.Sprint(p.Name, isReady(p))
			}
		}
	}
	for _, e := range endpoints.Items {
		for _, s := range e.Subsets {
			for _, a := range s.Addresses {
				have[e.Name+" "+a.IP] = fmt.Sprint(a.TargetRef.Name, true)
			}
			for _, a := range s.NotReadyAddresses {
				have[e.Name+" "+a.IP] = fmt.Sprint(a.TargetRef.Name, false)
			}
		}
	}
	if !maps.Equal(want, have) {
		return fmt.Errorf("the Endpoints have %v, the Pods are %v", have, want)
	}
	return nil
}
