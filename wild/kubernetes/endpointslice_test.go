package kubernetes_test

import (
	"fmt"
	"maps"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	discoveryv1 "k8s.io/api/discovery/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const asSelected = "the EndpointSlices of a Service have the addresses of the Pods that it selects"

// Whatever happens, in the end the EndpointSlices of each Service are the Pods that it selects, each once, ready or not as they are. The controller gives up a Service
// after fifteen failures, which is a finding of its own; so it is started again before the end.
func TestEndpointSlice(t *testing.T) {
	away := simtest.Exception{Property: simtest.NoLostDeletion, Client: "endpointslice", Object: "endpointslices", Why: "TestDeletedSliceStaysAway"}
	simtest.Run(t, simtest.Options{Nodes: 3, Properties: simtest.WellBehaved(away)}, func(env *simtest.Env) {
		changeSlices(env)
		startAnew(env, "endpointslice")
		env.Eventually(asSelected, time.Hour, func() error { return endpointsAgree(env) })
	})
}

// A Service whose EndpointSlices cannot be written is tried again fifteen times, with longer and longer pauses: more than an hour, if nothing else happens. But each change of
// its Pods has it tried at once, such a failure counts, too, and so does a cache that is behind. So it may be forgotten after less than two minutes. Nothing but another
// change of its Pods, or a restart, makes the controller look at it again.
func TestSliceIsGivenUp(t *testing.T) {
	wantFound(t, simtest.Options{Nodes: 3, Seeds: 60}, func(env *simtest.Env) {
		changeSlices(env)
		env.StopFaults()
		const putOff = 20 * time.Minute // longer than any retry is
		env.Eventually(asSelected, putOff, func() error { return endpointsAgree(env) })
	}, asSelected)
}

// The controller hears of the deletion of a slice if it has written that one in its life (onEndpointSliceDelete asks the tracker, which only its own writes fill). One that is deleted after a restart
// stays away until its Service or a Pod changes (kubernetes/kubernetes#112143 is about the same in another controller).
func TestDeletedSliceStaysAway(t *testing.T) {
	wantFound(t, simtest.Options{Nodes: 3, Mix: "none"}, func(env *simtest.Env) {
		services(env)
		start(env, "endpointslice", wild.EndpointSlices)
		env.Create(&corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "p", Labels: map[string]string{"app": "0"}}, Spec: template(nil, corev1.RestartPolicyAlways).Spec})
		startAnew(env, "endpointslice")
		env.Advance(time.Minute)
		var all discoveryv1.EndpointSliceList
		if err := env.List(&all, "default"); err != nil || len(all.Items) == 0 {
			return // it has not come that far
		}
		for n := range all.Items {
			env.Delete(&all.Items[n])
		}
		env.Eventually(asSelected, 20*time.Minute, func() error { return endpointsAgree(env) })
	}, asSelected)
}

func changeSlices(env *simtest.Env) {
	services(env)
	start(env, "endpointslice", wild.EndpointSlices)
	for range 20 {
		disturbEndpoints(env)
		pause(env, 10*time.Second)
	}
}

// disturbEndpoints creates a Pod, deletes one, moves one to another Service, or changes what a Service selects.
func disturbEndpoints(env *simtest.Env) {
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("p-%d", env.Rand().IntN(6))}}
	label := map[string]string{"app": fmt.Sprint(env.Rand().IntN(2))}
	exists := env.Get(p) == nil
	switch n := env.Rand().IntN(8); {
	case n == 7:
		s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("s-%d", env.Rand().IntN(2))}}
		env.Mutate(s, func() { s.Spec.Selector = label })
	case !exists:
		p.Labels = label
		p.Spec = template(nil, corev1.RestartPolicyAlways).Spec
		env.Create(p)
	case n < 3:
		remove(env, p)
	default:
		relabel(env, p, label)
	}
}

func endpointsAgree(env *simtest.Env) error {
	var services corev1.ServiceList
	var slices discoveryv1.EndpointSliceList
	var pods corev1.PodList
	for _, err := range []error{env.List(&services, "default"), env.List(&slices, "default"), env.List(&pods, "default")} {
		if err != nil {
			return err
		}
	}
	want, have := map[string]string{}, map[string]string{}
	for _, s := range services.Items {
		for i := range pods.Items {
			p := &pods.Items[i]
			if p.Labels["app"] == s.Spec.Selector["app"] && p.Status.PodIP != "" && p.Status.Phase != corev1.PodFailed && p.Status.Phase != corev1.PodSucceeded {
				want[s.Name+" "+p.Status.PodIP] = fmt.Sprint(p.Name, isReady(p) && p.DeletionTimestamp == nil)
			}
		}
	}
	for _, s := range slices.Items {
		for _, e := range s.Endpoints {
			key := s.Labels[discoveryv1.LabelServiceName] + " " + e.Addresses[0]
			if have[key] != "" {
				return fmt.Errorf("%s is there twice", key)
			}
			have[key] = fmt.Sprint(e.TargetRef.Name, ptr.Deref(e.Conditions.Ready, true))
		}
	}
	if !maps.Equal(want, have) {
		return fmt.Errorf("the EndpointSlices have %v, the Pods are %v", have, want)
	}
	return nil
}
