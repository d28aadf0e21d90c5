package kubernetes_test

import (
	"fmt"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	orphansGo   = "no Pod is left of a Node that is gone, and no more that have ended than are kept"
	runningStay = "a Pod that runs stays as long as its Node"
	keptEnded   = 2
)

// In the end no Pod is left whose Node is gone, and no more that have ended than are to be kept (kubernetes.io/docs/concepts/workloads/pods/pod-lifecycle, garbage
// collection of Pods); none that runs goes while its Node is there. No name of a Node or a Pod is used twice.
func TestPodGC(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		watch := observer{env: env}
		env.Always(runningStay, func() error {
			return watch.each(func(before, now *corev1.Pod) error {
				if now == nil && before.Status.Phase == corev1.PodRunning && env.Get(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: before.Spec.NodeName}}) == nil {
					return fmt.Errorf("%s was running on %s, which is there, and has been deleted", before.Name, before.Spec.NodeName)
				}
				return nil
			})
		})
		start(env, "podgc", wild.PodGC(keptEnded))
		for n := range 25 {
			changeNodesAndPods(env, n)
			pause(env, 30*time.Second)
		}
		env.StopFaults()
		env.Eventually(orphansGo, time.Hour, func() error { return areCollected(env) })
	})
}

// changeNodesAndPods creates or deletes a Node, creates a Pod on one, or ends one.
func changeNodesAndPods(env *simtest.Env, n int) {
	var nodes corev1.NodeList
	var pods corev1.PodList
	if env.List(&nodes, "") != nil || env.List(&pods, "default") != nil {
		return
	}
	switch k := env.Rand().IntN(8); {
	case k < 2 || len(nodes.Items) == 0:
		env.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", n)}})
	case k == 2:
		env.Delete(&nodes.Items[env.Rand().IntN(len(nodes.Items))])
	case k < 6 || len(pods.Items) == 0:
		p := podOn(fmt.Sprintf("p-%d", n), nodes.Items[env.Rand().IntN(len(nodes.Items))].Name, 0)
		p.Status.Phase = corev1.PodRunning
		env.Create(p)
	default:
		setPhase(env, &pods.Items[env.Rand().IntN(len(pods.Items))], corev1.PodFailed)
	}
}

// A StatefulSet's Pod has failed, and its Node is gone. While the watch of Pods stands still, the Pod is deleted, and created again on another Node. The controller takes the
// Pod of its cache for one without a Node, and deletes what is called so, at once and without a uid: a Pod that runs.
func TestPodGCDeletesNextPodOfItsName(t *testing.T) {
	wantFound(t, simtest.Options{Mix: "none", Seeds: 20}, func(env *simtest.Env) {
		lost, other := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-0"}}, &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-1"}}
		former, next := podOn("db-0", "node-0", 0), podOn("db-0", "node-1", 0)
		env.Create(lost, other, former)
		setPhase(env, former, corev1.PodFailed)
		start(env, "podgc", wild.PodGC(12500))
		env.Advance(time.Minute)
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "podgc", Resource: "pods", Duration: 2 * time.Minute})
		env.Delete(lost)
		remove(env, former)
		env.Create(next)
		setPhase(env, next, corev1.PodRunning)
		env.Always(runningStay, func() error { return env.Get(next) })
		env.Advance(time.Hour)
	}, runningStay)
}

// setPhase does what a kubelet does.
func setPhase(env *simtest.Env, p *corev1.Pod, phase corev1.PodPhase) {
	if env.Get(p) != nil {
		return
	}
	p.Status.Phase = phase
	env.UpdateStatus(p)
}

func areCollected(env *simtest.Env) error {
	var pods corev1.PodList
	if err := env.List(&pods, "default"); err != nil {
		return err
	}
	ended := 0
	for _, p := range pods.Items {
		if err := env.Get(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: p.Spec.NodeName}}); err != nil {
			return fmt.Errorf("%s is there: %w", p.Name, err)
		}
		if p.Status.Phase == corev1.PodFailed || p.Status.Phase == corev1.PodSucceeded {
			ended++
		}
	}
	if ended > keptEnded {
		return fmt.Errorf("%d Pods that have ended are there, and %d are kept", ended, keptEnded)
	}
	return nil
}
