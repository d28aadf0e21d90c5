package kubernetes_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	evicted     = "no Pod stays on a Node whose taint it does not tolerate"
	untaintedAt = "no Pod is evicted from a Node that was never tainted"
	broken      = "example.com/broken" // a taint
	tolerates   = 30 * time.Second
)

// In the end all Pods are evicted that do not tolerate the taint of their Node, or not for so long (kubernetes.io/docs/concepts/scheduling-eviction/taint-and-toleration);
// none is evicted from a Node that never had one. An eviction that fails is not tried again, which is a finding of its own; so the controller is started again before the
// end. No name of a Pod is used twice, for another.
func TestTaintEviction(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		for n := range 3 {
			env.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", n)}})
		}
		env.Always(untaintedAt, func() error { return noneEvictedFrom(env, "node-0") })
		start(env, "taint-eviction", wild.TaintEvictions)
		for n := range 20 {
			switch env.Rand().IntN(2) {
			case 0:
				env.Create(podOn(fmt.Sprintf("p-%d", n), fmt.Sprintf("node-%d", env.Rand().IntN(3)), env.Rand().IntN(3)))
			default:
				toggleTaint(env, fmt.Sprintf("node-%d", 1+env.Rand().IntN(2)))
			}
			pause(env, 20*time.Second)
		}
		startAnew(env, "taint-eviction")
		env.Eventually(evicted, time.Hour, func() error { return areEvicted(env) })
	})
}

// An eviction is tried five times within some fifty milliseconds, and then forgotten: neither the Pod nor the Node changes, so nothing makes the controller try again.
func TestFailedEvictionIsNotTriedAgain(t *testing.T) {
	wantFound(t, simtest.Options{Mix: "none", Seeds: 20}, func(env *simtest.Env) {
		env.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "node-0"}}, podOn("web", "node-0", 0))
		start(env, "taint-eviction", wild.TaintEvictions)
		env.Advance(time.Second)
		env.Inject(fault.Fault{Kind: fault.WriteReset, Target: "taint-eviction", Verb: "delete", Resource: "pods", Count: 5})
		toggleTaint(env, "node-0")
		env.Eventually(evicted, time.Hour, func() error { return areEvicted(env) })
	}, evicted)
}

// A Pod tolerates the taint of its Node for half a minute. It is deleted before that, and created again under its name on another Node, as a StatefulSet does, while the
// watch of Pods stands still. The controller reads the Pod of that name, and deletes it, wherever it is and whichever uid it has.
func TestEvictionHitsNextPodOfItsName(t *testing.T) {
	wantFound(t, simtest.Options{Mix: "none", Seeds: 20}, func(env *simtest.Env) {
		for n := range 2 {
			env.Create(&corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", n)}})
		}
		former, next := podOn("db-0", "node-1", 1), podOn("db-0", "node-0", 1)
		env.Create(former)
		start(env, "taint-eviction", wild.TaintEvictions)
		toggleTaint(env, "node-1")
		env.Advance(10 * time.Second)
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "taint-eviction", Resource: "pods", Duration: time.Minute})
		remove(env, former)
		env.Create(next)
		env.Always(untaintedAt, func() error { return noneEvictedFrom(env, "node-0") })
		env.Advance(time.Hour)
	}, untaintedAt)
}

// podOn is a Pod on a node that tolerates taints not at all (0), for a while (1), or for ever (2).
func podOn(name, node string, toleration int) *corev1.Pod {
	spec := template(nil, corev1.RestartPolicyAlways).Spec
	spec.NodeName = node
	switch t := (corev1.Toleration{Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute}); toleration {
	case 1:
		t.TolerationSeconds = ptr.To(int64(tolerates.Seconds()))
		fallthrough
	case 2:
		spec.Tolerations = []corev1.Toleration{t}
	}
	return &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: spec}
}

// toggleTaint taints a Node, or removes that taint. Nodes that are created have another, which evicts no Pods.
func toggleTaint(env *simtest.Env, name string) {
	node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name}}
	env.Mutate(node, func() {
		if isBroken(node) {
			node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == broken })
		} else {
			node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: broken, Effect: corev1.TaintEffectNoExecute})
		}
	})
}

func isBroken(node *corev1.Node) bool {
	return slices.ContainsFunc(node.Spec.Taints, func(t corev1.Taint) bool { return t.Key == broken })
}

func noneEvictedFrom(env *simtest.Env, node string) error {
	var pods corev1.PodList
	if err := env.List(&pods, "default"); err != nil {
		return err
	}
	for _, p := range pods.Items {
		if p.Spec.NodeName == node && p.DeletionTimestamp != nil {
			return fmt.Errorf("%s is on %s, which was never tainted, and is being deleted", p.Name, node)
		}
	}
	return nil
}

func areEvicted(env *simtest.Env) error {
	var pods corev1.PodList
	if err := env.List(&pods, "default"); err != nil {
		return err
	}
	for _, p := range pods.Items {
		node := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: p.Spec.NodeName}}
		if err := env.Get(node); err != nil {
			return err
		}
		forEver := len(p.Spec.Tolerations) > 0 && p.Spec.Tolerations[0].TolerationSeconds == nil
		if isBroken(node) && !forEver && p.DeletionTimestamp == nil {
			return fmt.Errorf("%s is on %s, which has the taint %s", p.Name, node.Name, broken)
		}
	}
	return nil
}
