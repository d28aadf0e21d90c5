package kubernetes_test

import (
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	rolledOut    = "a Deployment has the Pods of its newest template, and its status says so"
	enoughPods   = "a rolling update leaves enough Pods available"
	withinSurge  = "a rolling update asks for no more Pods than maxSurge allows"
	noTwinOfASet = "a Deployment has one ReplicaSet for each template"
)

func newDeployment(replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: web}, Template: template(web, corev1.RestartPolicyAlways),
			Strategy: appsv1.DeploymentStrategy{Type: appsv1.RollingUpdateDeploymentStrategyType, RollingUpdate: &appsv1.RollingUpdateDeployment{
				MaxUnavailable: ptr.To(intstr.FromInt32(1)), MaxSurge: ptr.To(intstr.FromInt32(1)),
			}},
		},
	}
}

// Whatever happens, in the end the newest template is rolled out.
func TestDeployment(t *testing.T) {
	simtest.Run(t, simtest.Options{Nodes: 3, GarbageCollection: true, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		d := newDeployment(3)
		env.Create(d)
		start(env, "deployment", wild.Deployments)
		start(env, "replicaset", wild.ReplicaSets)
		for range 10 {
			disturbDeployment(env, d)
			pause(env, 30*time.Second)
		}
		env.StopFaults()
		env.Mutate(d, func() { d.Spec.Paused = false })
		wakeSets(env)
		env.Eventually(rolledOut, time.Hour, func() error { return isRolledOut(env, d) })
		env.Eventually(noTwinOfASet, time.Second, func() error { return oneSetForEach(env) })
	})
}

// disturbDeployment rolls out another image, scales, pauses or goes on, or deletes a Pod.
func disturbDeployment(env *simtest.Env, d *appsv1.Deployment) {
	var pods corev1.PodList
	err := env.List(&pods, "default")
	switch n := env.Rand().IntN(8); {
	case n < 3:
		roll(env, d)
	case n < 5:
		env.Mutate(d, func() { d.Spec.Replicas = ptr.To(env.Rand().Int32N(5)) })
	case n == 5:
		env.Mutate(d, func() { d.Spec.Paused = !d.Spec.Paused })
		env.Advance(time.Second)
		env.Mutate(d, func() { d.Spec.Paused = false })
	case err == nil && len(pods.Items) > 0:
		remove(env, &pods.Items[env.Rand().IntN(len(pods.Items))])
	}
}

// roll sets one of three images.
func roll(env *simtest.Env, d *appsv1.Deployment) {
	rollTo(env, d, fmt.Sprintf("main:%d", 1+env.Rand().IntN(3)))
}

func rollTo(env *simtest.Env, d *appsv1.Deployment, image string) {
	env.Mutate(d, func() { d.Spec.Template.Spec.Containers[0].Image = image })
}

// wakeSets is wake for every ReplicaSet.
func wakeSets(env *simtest.Env) {
	var sets appsv1.ReplicaSetList
	if err := env.List(&sets, ""); err != nil {
		return
	}
	env.Advance(6 * time.Minute)
	for i := range sets.Items {
		rs := &sets.Items[i]
		if env.Get(rs) == nil {
			env.Mutate(rs, func() { metav1.SetMetaDataAnnotation(&rs.ObjectMeta, "example.com/note", env.Now().String()) })
		}
	}
}

// isRolledOut fails unless all Pods are those of the newest template, ready, and the status says so.
func isRolledOut(env *simtest.Env, d *appsv1.Deployment) error {
	if err := env.Get(d); err != nil {
		return err
	}
	var pods corev1.PodList
	if err := env.List(&pods, "default"); err != nil {
		return err
	}
	var ready int32
	for i := range pods.Items {
		p := &pods.Items[i]
		if !isActive(p) {
			continue
		}
		if p.Spec.Containers[0].Image != d.Spec.Template.Spec.Containers[0].Image || !isReady(p) {
			return fmt.Errorf("the Pod %s has the image %s, ready: %t; wanted is %s", p.Name, p.Spec.Containers[0].Image, isReady(p), d.Spec.Template.Spec.Containers[0].Image)
		}
		ready++
	}
	want, s := *d.Spec.Replicas, d.Status
	if ready != want || s.Replicas != want || s.UpdatedReplicas != want || s.AvailableReplicas != want || s.ObservedGeneration != d.Generation {
		return fmt.Errorf("%d Pods are wanted, %d are ready, and the status of generation %d is %+v", want, ready, d.Generation, s)
	}
	return nil
}

// oneSetForEach fails if there are two ReplicaSets with the same template.
func oneSetForEach(env *simtest.Env) error {
	var sets appsv1.ReplicaSetList
	if err := env.List(&sets, "default"); err != nil {
		return err
	}
	of := map[string]string{}
	for _, rs := range sets.Items {
		image := rs.Spec.Template.Spec.Containers[0].Image
		if other := of[image]; other != "" {
			return fmt.Errorf("the ReplicaSets %s and %s are both of %s", other, rs.Name, image)
		}
		of[image] = rs.Name
	}
	return nil
}

// During rollouts that nobody else disturbs, and while nothing fails, as many Pods stay available as the strategy says, and no more are asked
// for. How many Pods there are at a moment is another matter: the ReplicaSets' controller deletes those of one ReplicaSet and creates those of
// another in its own time.
func TestRollingUpdateKeepsItsBounds(t *testing.T) {
	simtest.Run(t, simtest.Options{Nodes: 3, Stages: []string{"pod"}, Mix: "none", Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		rollouts(env)
	})
}

// A Pod that a ReplicaSet is yet to delete counts as available. When the ReplicaSets' controller falls behind, the Deployment's takes Pods from the old
// ReplicaSets that will be needed: status.availableReplicas is still that of before its last step, and what spec.replicas has already taken away
// is taken away again.
func TestRollingUpdateCountsDoomedPods(t *testing.T) {
	o := simtest.Options{Nodes: 3, Stages: []string{"pod"}, Mix: "none", CrashProbability: -1}
	wantFound(t, o, func(env *simtest.Env) {
		d := newDeployment(4)
		env.Create(d)
		start(env, "deployment", wild.Deployments)
		start(env, "replicaset", wild.ReplicaSets)
		env.Eventually(rolledOut, time.Hour, func() error { return isRolledOut(env, d) })
		watchAvailable(env)
		rollTo(env, d, "main:2")
		env.Eventually("a Pod of the second image is available", time.Hour, func() error { return hasAvailable(env, "main:2") })
		behind := env.Inject(fault.Fault{Kind: fault.Write503, Target: "replicaset", Resource: "replicasets", Count: fault.Lasting})
		env.Advance(time.Second)
		rollTo(env, d, "main:1")
		env.Advance(time.Second)
		behind()
		env.Advance(time.Hour)
	}, enoughPods)
}

// The controller of Deployments does not wait to see its own writes, as that of ReplicaSets does. With a cache that has not seen the last, it makes a
// ReplicaSet with Pods that another one has already been given.
func TestRollingUpdateForgetsWhatItHasAskedFor(t *testing.T) {
	wantFound(t, simtest.Options{Mix: "none", CrashProbability: -1}, func(env *simtest.Env) {
		start(env, "deployment", wild.Deployments)
		env.Settle()
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "deployment", Resource: "replicasets", Duration: time.Minute})
		env.Always(withinSurge, func() error { return askedFor(env, 5) })
		d := newDeployment(4)
		env.Create(d)
		env.Advance(time.Second)
		rollTo(env, d, "main:2")
		env.Advance(time.Hour)
	}, withinSurge)
}

// rollouts rolls out one image after the other, while it watches a rolling update's bounds.
func rollouts(env *simtest.Env) {
	d := newDeployment(4)
	env.Create(d)
	start(env, "deployment", wild.Deployments)
	start(env, "replicaset", wild.ReplicaSets)
	watchAvailable(env)
	env.Always(withinSurge, func() error { return askedFor(env, 5) })
	for range 6 {
		pause(env, time.Minute)
		roll(env, d)
	}
	env.StopFaults()
	wakeSets(env)
	env.Eventually(rolledOut, time.Hour, func() error { return isRolledOut(env, d) })
}

// watchAvailable states that three of four Pods are available, from when all of them first are.
func watchAvailable(env *simtest.Env) {
	full := false
	env.Always(enoughPods, func() error {
		available, err := availablePods(env)
		if full = full || available >= 4; full && available < 3 {
			return fmt.Errorf("%d of 4 Pods are available, and maxUnavailable is 1", available)
		}
		return err
	})
}

// hasAvailable fails unless the ReplicaSet of an image says that a Pod is available.
func hasAvailable(env *simtest.Env, image string) error {
	var sets appsv1.ReplicaSetList
	if err := env.List(&sets, "default"); err != nil {
		return err
	}
	for _, rs := range sets.Items {
		if rs.Spec.Template.Spec.Containers[0].Image == image && rs.Status.AvailableReplicas > 0 {
			return nil
		}
	}
	return fmt.Errorf("none of %s is", image)
}

func availablePods(env *simtest.Env) (n int, err error) {
	var pods corev1.PodList
	err = env.List(&pods, "default")
	for i := range pods.Items {
		if isAvailable(&pods.Items[i]) {
			n++
		}
	}
	return n, err
}

// askedFor fails if the ReplicaSets are together asked for more Pods.
func askedFor(env *simtest.Env, most int32) error {
	var sets appsv1.ReplicaSetList
	if err := env.List(&sets, "default"); err != nil {
		return err
	}
	var asked []string
	var sum int32
	for _, rs := range sets.Items {
		asked = append(asked, fmt.Sprintf("%s for %d", rs.Name, *rs.Spec.Replicas))
		sum += *rs.Spec.Replicas
	}
	if sum > most {
		return fmt.Errorf("4 Pods are wanted and maxSurge is 1, and the ReplicaSets are asked for %d: %s", sum, strings.Join(asked, ", "))
	}
	return nil
}
