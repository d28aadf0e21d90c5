package kubernetes_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	asOrdered    = "a StatefulSet has its Pods, of its newest template, and its status says so"
	inOrder      = "a StatefulSet's Pods are created and deleted in order"
	leavesThemBe = "nobody deletes a Pod of a StatefulSet that should be there"
)

func newStatefulSet(replicas int32) *appsv1.StatefulSet {
	return &appsv1.StatefulSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "db"},
		Spec: appsv1.StatefulSetSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: web}, Template: template(web, corev1.RestartPolicyAlways), ServiceName: "db",
		},
	}
}

// Whatever happens, in the end there are the Pods 0 to n-1, of the newest template.
func TestStatefulSet(t *testing.T) {
	simtest.Run(t, simtest.Options{Nodes: 3, GarbageCollection: true, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		s := newStatefulSet(3)
		env.Create(s)
		start(env, "statefulset", wild.StatefulSets)
		for range 12 {
			disturbStatefulSet(env, s, 3)
			pause(env, 30*time.Second)
		}
		env.StopFaults()
		env.Eventually(asOrdered, time.Hour, func() error { return asStateful(env, s) })
	})
}

// disturbStatefulSet scales, rolls out another image, or, with a third kind, deletes a Pod.
func disturbStatefulSet(env *simtest.Env, s *appsv1.StatefulSet, kinds int) {
	switch env.Rand().IntN(kinds) {
	case 0:
		env.Mutate(s, func() { s.Spec.Replicas = ptr.To(env.Rand().Int32N(5)) })
	case 1:
		image := fmt.Sprintf("main:%d", 1+env.Rand().IntN(3))
		env.Mutate(s, func() { s.Spec.Template.Spec.Containers[0].Image = image })
	default:
		if pods, err := podsOf(env, s.UID); err == nil && len(pods) > 0 {
			remove(env, &pods[env.Rand().IntN(len(pods))])
		}
	}
}

// asStateful fails unless the StatefulSet has its Pods and says so.
func asStateful(env *simtest.Env, s *appsv1.StatefulSet) error {
	if err := env.Get(s); err != nil {
		return err
	}
	pods, err := podsOf(env, s.UID)
	if err != nil {
		return err
	}
	image, want, status := s.Spec.Template.Spec.Containers[0].Image, *s.Spec.Replicas, s.Status
	if len(pods) != int(want) {
		return fmt.Errorf("%d Pods are wanted, %d are there", want, len(pods))
	}
	for i := range pods {
		p := &pods[i]
		if p.Name != fmt.Sprintf("db-%d", i) || !isReady(p) || p.DeletionTimestamp != nil || p.Spec.Containers[0].Image != image {
			return fmt.Errorf("the Pod %s has the image %s, ready: %t; wanted is %s", p.Name, p.Spec.Containers[0].Image, isReady(p), image)
		}
	}
	if status.Replicas != want || status.ReadyReplicas != want || status.AvailableReplicas != want || status.CurrentRevision != status.UpdateRevision || status.ObservedGeneration != s.Generation {
		return fmt.Errorf("%d Pods are there, and the status of generation %d is %+v", want, s.Generation, status)
	}
	return nil
}

func ordinal(name string) int {
	n, err := strconv.Atoi(name[strings.LastIndexByte(name, '-')+1:])
	if err != nil {
		return -1
	}
	return n
}

// A StatefulSet that grows, or shrinks, keeps the order: a Pod is created when all before it are ready, and deleted when all after it have gone.
// One that shrinks and grows again does not (TestStatefulSetForgetsWhatItHasDeleted). Of a Pod whose create has failed it does not know that it is there.
func TestStatefulSetKeepsOrder(t *testing.T) {
	simtest.Run(t, simtest.Options{Nodes: 3, Stages: []string{"pod"}, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		steps := []int32{0, 1, 2, 4, 5}
		if env.Seed()%2 == 0 {
			slices.Reverse(steps)
		}
		s := newStatefulSet(steps[0])
		env.Create(s)
		var failed failedCreates
		start(env, "statefulset", wild.StatefulSets, failed.watch)
		env.Advance(time.Minute)
		watch := observer{env: env}
		if err := watch.each(func(_, _ *corev1.Pod) error { return nil }); err != nil {
			return
		}
		env.Always(inOrder, func() error {
			return watch.each(func(before, now *corev1.Pod) error {
				if now != nil && now.DeletionTimestamp != nil && failed.of("pods") > 0 {
					return nil
				}
				return ordered(env, before, now)
			})
		})
		for _, n := range steps[1:] {
			env.Mutate(s, func() { s.Spec.Replicas = &n })
			pause(env, 30*time.Second)
		}
		env.StopFaults()
		env.Eventually(asOrdered, time.Hour, func() error { return asStateful(env, s) })
	})
}

// What the controller has created, it waits to see (StaleControllerConsistencyStatefulSet); what it has deleted, it forgets. While its watch of Pods
// stands still, it takes a Pod that it has just deleted for ready, and creates the next one before it.
func TestStatefulSetForgetsWhatItHasDeleted(t *testing.T) {
	wantFound(t, simtest.Options{Nodes: 1, Stages: []string{"pod"}, Mix: "none", Seeds: 20}, func(env *simtest.Env) {
		s := newStatefulSet(1)
		env.Create(s)
		start(env, "statefulset", wild.StatefulSets)
		env.Eventually(asOrdered, time.Hour, func() error { return asStateful(env, s) })
		watch := observer{env: env}
		env.Always(inOrder, func() error {
			return watch.each(func(before, now *corev1.Pod) error { return ordered(env, before, now) })
		})
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "statefulset", Resource: "pods", Duration: time.Minute})
		env.Mutate(s, func() { s.Spec.Replicas = ptr.To[int32](0) })
		env.Advance(10 * time.Second)
		env.Mutate(s, func() { s.Spec.Replicas = ptr.To[int32](2) })
		env.Advance(10 * time.Second)
	}, inOrder)
}

// ordered fails if a Pod comes before its predecessors are ready, or goes before its successors have gone.
func ordered(env *simtest.Env, before, now *corev1.Pod) error {
	comes := before == nil
	goes := now != nil && now.DeletionTimestamp != nil && (before == nil || before.DeletionTimestamp == nil) || now == nil && before.DeletionTimestamp == nil
	if !comes && !goes {
		return nil
	}
	p := now
	if p == nil {
		p = before
	}
	n := ordinal(p.Name)
	var pods corev1.PodList
	if err := env.List(&pods, "default"); err != nil {
		return err
	}
	ready := 0
	for i := range pods.Items {
		switch other := &pods.Items[i]; {
		case comes && ordinal(other.Name) < n && isAvailable(other):
			ready++
		case goes && ordinal(other.Name) > n:
			return fmt.Errorf("%s is being deleted, and %s is still there", p.Name, other.Name)
		}
	}
	if comes && ready < n {
		return fmt.Errorf("%s is there, and %d of the %d before it are ready", p.Name, ready, n)
	}
	return nil
}

// A StatefulSet that nobody changes replaces Pods that have failed, and no others. Its Pods keep their names, so that a deletion may
// hit another Pod than was meant.
func TestStatefulSetDeletesOnlyFailedPods(t *testing.T) {
	o := simtest.Options{Nodes: 3, Stages: []string{"pod", "pod-faults"}}
	simtest.Run(t, o, func(env *simtest.Env) {
		s := newStatefulSet(3)
		env.Create(s)
		watch := observer{env: env}
		env.Always(leavesThemBe, func() error {
			return watch.each(func(before, now *corev1.Pod) error {
				if now != nil && now.DeletionTimestamp != nil && now.Status.Phase != corev1.PodFailed && now.Status.Phase != corev1.PodSucceeded {
					return fmt.Errorf("%s is %s, and is being deleted", now.Name, now.Status.Phase)
				}
				if now == nil && before.Status.Phase != corev1.PodFailed && before.Status.Phase != corev1.PodSucceeded {
					return fmt.Errorf("%s was %s, and has been deleted", before.Name, before.Status.Phase)
				}
				return nil
			})
		})
		start(env, "statefulset", wild.StatefulSets)
		env.Advance(10 * time.Minute)
		env.StopFaults()
		env.Eventually(asOrdered, time.Hour, func() error { return asStateful(env, s) })
	})
}
