package kubernetes_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	onEachNode   = "a DaemonSet has a Pod of its newest template on each node that it selects, and its status says so"
	oneOnEach    = "a DaemonSet has no two Pods on a node"
	gateLabel    = "example.com/daemon"
	daemonsTotal = 3
)

func newDaemonSet() *appsv1.DaemonSet {
	ds := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "agent"},
		Spec:       appsv1.DaemonSetSpec{Selector: &metav1.LabelSelector{MatchLabels: web}, Template: template(web, corev1.RestartPolicyAlways)},
	}
	ds.Spec.Template.Spec.NodeSelector = map[string]string{gateLabel: "yes"}
	return ds
}

// Whatever happens, in the end each node that is selected has one Pod, and the others have none.
func TestDaemonSet(t *testing.T) {
	simtest.Run(t, simtest.Options{Nodes: daemonsTotal, GarbageCollection: true, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		ds := newDaemonSet()
		env.Create(ds)
		start(env, "daemonset", wild.DaemonSets)
		for range 12 {
			disturbDaemonSet(env, ds)
			pause(env, 30*time.Second)
		}
		env.StopFaults()
		wake(env, ds)
		env.Eventually(onEachNode, time.Hour, func() error { return daemonsAgree(env, ds) })
	})
}

// disturbDaemonSet takes a node in or out, rolls out another image, or deletes a Pod.
func disturbDaemonSet(env *simtest.Env, ds *appsv1.DaemonSet) {
	switch env.Rand().IntN(4) {
	case 0, 1:
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("node-%d", 1+env.Rand().IntN(daemonsTotal))}}
		env.Mutate(n, func() {
			if n.Labels[gateLabel] == "" {
				metav1.SetMetaDataLabel(&n.ObjectMeta, gateLabel, "yes")
			} else {
				delete(n.Labels, gateLabel)
			}
		})
	case 2:
		image := fmt.Sprintf("main:%d", 1+env.Rand().IntN(3))
		env.Mutate(ds, func() { ds.Spec.Template.Spec.Containers[0].Image = image })
	default:
		if pods, err := podsOf(env, ds.UID); err == nil && len(pods) > 0 {
			remove(env, &pods[env.Rand().IntN(len(pods))])
		}
	}
}

// nodeOf returns the node that a Pod of a DaemonSet is for, whether it has been bound or not.
func nodeOf(p *corev1.Pod) string {
	if p.Spec.NodeName != "" {
		return p.Spec.NodeName
	}
	return p.Spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution.NodeSelectorTerms[0].MatchFields[0].Values[0]
}

func daemonsAgree(env *simtest.Env, ds *appsv1.DaemonSet) error {
	if err := env.Get(ds); err != nil {
		return err
	}
	var nodes corev1.NodeList
	if err := env.List(&nodes, ""); err != nil {
		return err
	}
	pods, err := podsOf(env, ds.UID)
	if err != nil {
		return err
	}
	on := map[string]int{}
	for i := range pods {
		p := &pods[i]
		if image := ds.Spec.Template.Spec.Containers[0].Image; p.DeletionTimestamp != nil || !isReady(p) || p.Spec.Containers[0].Image != image {
			return fmt.Errorf("the Pod %s has the image %s, ready: %t; wanted is %s", p.Name, p.Spec.Containers[0].Image, isReady(p), image)
		}
		on[nodeOf(p)]++
	}
	var wanted int32
	for i := range nodes.Items {
		want := 0
		if nodes.Items[i].Labels[gateLabel] != "" {
			want = 1
			wanted++
		}
		if name := nodes.Items[i].Name; on[name] != want {
			return fmt.Errorf("%s has %d Pods, wanted are %d", name, on[name], want)
		}
	}
	s := ds.Status
	if s.DesiredNumberScheduled != wanted || s.CurrentNumberScheduled != wanted || s.NumberReady != wanted || s.NumberAvailable != wanted ||
		s.UpdatedNumberScheduled != wanted || s.NumberMisscheduled != 0 || s.ObservedGeneration != ds.Generation {
		return fmt.Errorf("%d nodes have their Pods, and the status of generation %d is %+v", wanted, ds.Generation, s)
	}
	return nil
}

// No lag makes the controller put a second Pod on a node, as long as it knows what became of its requests.
func TestDaemonSetPutsOnePodOnEachNode(t *testing.T) {
	simtest.Run(t, simtest.Options{Nodes: daemonsTotal, Stages: []string{"pod"}, CrashProbability: -1, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		ds := newDaemonSet()
		env.Create(ds)
		var failed failedCreates
		env.Always(oneOnEach, func() error {
			pods, err := podsOf(env, ds.UID)
			if err != nil {
				return err
			}
			on, twice := map[string]string{}, 0
			var which string
			for i := range pods {
				if p := &pods[i]; isActive(p) {
					if other := on[nodeOf(p)]; other != "" {
						twice++
						which = fmt.Sprintf("%s and %s are both on %s", other, p.Name, nodeOf(p))
					}
					on[nodeOf(p)] = p.Name
				}
			}
			if twice > failed.of("pods") {
				return fmt.Errorf("%s, and %d creates may have made a Pod", which, failed.of("pods"))
			}
			return nil
		})
		start(env, "daemonset", wild.DaemonSets, failed.watch)
		for range 12 {
			disturbDaemonSet(env, ds)
			pause(env, 2*time.Minute)
		}
		env.StopFaults()
		wake(env, ds)
		env.Eventually(onEachNode, time.Hour, func() error { return daemonsAgree(env, ds) })
	})
}
