package kubernetes_test

import (
	"fmt"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/kubernetes/pkg/features"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	asManyPods = "there are as many Pods as a ReplicaSet asks for, and its status says so"
	noMorePods = "a ReplicaSet has no more Pods than it asks for"
)

var web = map[string]string{"app": "web"}

func replicaSet(replicas int32) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: web}, Template: template(web, corev1.RestartPolicyAlways),
		},
	}
}

// Whatever happens to Pods and to the controller, in the end there are as many as were asked for last. A controller that still waits for Pods
// that it will never see has to be woken, by any change of the ReplicaSet (TestUnseenPodStopsReplicaSet).
func TestReplicaSet(t *testing.T) {
	simtest.Run(t, simtest.Options{Nodes: 3, GarbageCollection: true, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		rs := replicaSet(3)
		env.Create(rs)
		start(env, "replicaset", wild.ReplicaSets)
		for range 12 {
			disturb(env, rs)
			pause(env, 30*time.Second)
		}
		env.StopFaults()
		wake(env, rs)
		env.Eventually(asManyPods, time.Hour, func() error { return replicasAgree(env, rs) })
	})
}

// A Pod may come and go while the controller's watch is down: a kubelet refuses it, or somebody deletes it. After the relist that follows, the
// controller still expects to see it. It gives up on that after five minutes, but looks at the clock only when something about the ReplicaSet
// changes, or at the resync: until then, for 12 hours and more, it creates no Pod, not even for those that are deleted next.
func TestUnseenPodStopsReplicaSet(t *testing.T) {
	wantFound(t, simtest.Options{Seeds: 3, Mix: "none", History: 2}, func(env *simtest.Env) {
		rs := replicaSet(2)
		env.Create(rs)
		start(env, "replicaset", wild.ReplicaSets)
		env.Advance(time.Second)
		missUpdates(env, "replicaset", func() {
			env.Mutate(rs, func() { rs.Spec.Replicas = ptr.To[int32](3) })
			env.Advance(time.Second)
			deleteNewest(env, rs.UID)
		})
		env.Eventually(asManyPods, 3*time.Hour, func() error { return replicasExist(env, rs) })
	}, asManyPods)
}

// disturb scales a ReplicaSet, or takes a Pod from it: by deleting it, or its label.
func disturb(env *simtest.Env, rs *appsv1.ReplicaSet) {
	pods, err := podsOf(env, rs.UID)
	n := env.Rand().IntN(4)
	switch {
	case n < 2 || err != nil || len(pods) == 0:
		env.Mutate(rs, func() { rs.Spec.Replicas = ptr.To(env.Rand().Int32N(6)) })
	case n == 2:
		remove(env, &pods[env.Rand().IntN(len(pods))])
	default:
		relabel(env, &pods[env.Rand().IntN(len(pods))], map[string]string{"app": "debug"})
	}
}

// replicasExist fails unless the ReplicaSet has its Pods.
func replicasExist(env *simtest.Env, rs *appsv1.ReplicaSet) error {
	if err := env.Get(rs); err != nil {
		return err
	}
	pods, err := podsOf(env, rs.UID)
	if n := int(*rs.Spec.Replicas); err == nil && len(pods) != n {
		return fmt.Errorf("%d Pods are wanted, %d are there", n, len(pods))
	}
	return err
}

// replicasAgree fails unless the ReplicaSet has its Pods, ready, and a status that says so.
func replicasAgree(env *simtest.Env, rs *appsv1.ReplicaSet) error {
	if err := env.Get(rs); err != nil {
		return err
	}
	pods, err := podsOf(env, rs.UID)
	if err != nil {
		return err
	}
	var active, ready int32
	for i := range pods {
		if isActive(&pods[i]) {
			active++
			if isReady(&pods[i]) {
				ready++
			}
		}
	}
	want, s := *rs.Spec.Replicas, rs.Status
	if active != want || ready != want {
		return fmt.Errorf("%d Pods are wanted, %d are there, %d of them ready", want, active, ready)
	}
	if s.Replicas != want || s.ReadyReplicas != want || s.AvailableReplicas != want || s.FullyLabeledReplicas != want || s.ObservedGeneration != rs.Generation {
		return fmt.Errorf("%d Pods are there, and the status of generation %d is %+v", active, rs.Generation, s)
	}
	return nil
}

// No lag and no missed event makes the controller create a Pod too many: its expectations, and what it knows of its own writes, keep it
// from deciding with a cache that has not seen them. What it does not know is whether a request that failed has created a Pod
// (TestLostAnswerMakesPodTooMany), so each of those counts.
func TestReplicaSetMakesNoPodTooMany(t *testing.T) {
	simtest.Run(t, simtest.Options{Nodes: 3, Stages: []string{"pod"}, CrashProbability: -1, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		rs := replicaSet(4)
		env.Create(rs)
		var failed failedCreates
		env.Always(noMorePods, func() error { return noMoreThan(env, rs, 4+failed.of("pods")) })
		start(env, "replicaset", wild.ReplicaSets, failed.watch)
		for range 6 {
			if pods, err := podsOf(env, rs.UID); err == nil && len(pods) > 0 {
				remove(env, &pods[env.Rand().IntN(len(pods))])
			}
			pause(env, 3*time.Minute)
		}
		env.StopFaults()
		wake(env, rs)
		env.Eventually(asManyPods, time.Hour, func() error { return replicasAgree(env, rs) })
	})
}

// A create whose answer is lost has created a Pod. The controller lowers what it expects, as for any create that failed, and tries again with
// a cache that has not seen the Pod: what it remembers of its own writes (StaleControllerConsistencyReplicaSet) is written only when they
// succeed. Sooner or later it deletes one of the two, which may be the older one.
func TestLostAnswerMakesPodTooMany(t *testing.T) {
	wantFound(t, simtest.Options{Seeds: 100, Mix: "none"}, func(env *simtest.Env) {
		rs := replicaSet(1)
		start(env, "replicaset", wild.ReplicaSets)
		env.Settle()
		env.Inject(fault.Fault{Kind: fault.WriteLost, Target: "replicaset", Verb: "create", Resource: "pods"})
		env.Create(rs)
		env.Always(noMorePods, func() error { return noMoreThan(env, rs, 1) })
		env.Advance(time.Minute)
	}, noMorePods)
}

// kubernetes#129795: the expectations time out after five minutes, and a controller whose watch stands still that long has made more Pods than it was
// asked for. Since v1.36 it also compares what it has written with how far its cache is, and waits.
func TestStalledWatchMakesNoPodTooMany(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 20, Mix: "none", Properties: simtest.WellBehaved()}, stalled)
}

// Without the feature gate, which can be switched off until it is locked, the bug is there.
func TestStalledWatchMadePodsTooMany(t *testing.T) {
	gate(t, features.StaleControllerConsistencyReplicaSet, false)
	wantFound(t, simtest.Options{Seeds: 20, Mix: "none"}, stalled, noMorePods)
}

// stalled lets the controller's watch of Pods stand still for longer than its expectations hold.
func stalled(env *simtest.Env) {
	rs := replicaSet(1)
	env.Create(rs)
	start(env, "replicaset", wild.ReplicaSets)
	env.Advance(time.Second)
	env.Always(noMorePods, func() error { return noMoreThan(env, rs, 3) })
	env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "replicaset", Resource: "pods", Duration: 7 * time.Minute})
	env.Mutate(rs, func() { rs.Spec.Replicas = ptr.To[int32](3) })
	env.Advance(6 * time.Minute)
	env.Mutate(rs, func() {
		metav1.SetMetaDataAnnotation(&rs.ObjectMeta, "example.com/note", "a change, so that it is looked at")
	})
	env.Advance(time.Hour)
}

func noMoreThan(env *simtest.Env, rs *appsv1.ReplicaSet, most int) error {
	pods, err := podsOf(env, rs.UID)
	if err != nil {
		return err
	}
	n := 0
	for i := range pods {
		if isActive(&pods[i]) {
			n++
		}
	}
	if n > most {
		return fmt.Errorf("%d Pods were asked for, and there are %d", most, n)
	}
	return nil
}
