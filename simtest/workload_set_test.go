package simtest_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
)

// workloads are one object of each kind that the set workload moves, each with what says that it is there.
type workloads struct {
	deployment  *appsv1.Deployment
	replicaSet  *appsv1.ReplicaSet
	statefulSet *appsv1.StatefulSet
	daemonSet   *appsv1.DaemonSet
	job         *batchv1.Job
	claim       *corev1.PersistentVolumeClaim
	service     *corev1.Service
	ingress     *networkingv1.Ingress
}

func newWorkloads() *workloads {
	meta := metav1.ObjectMeta{Namespace: "default", Name: "web"}
	labels := map[string]string{"app": "web"}
	selector := &metav1.LabelSelector{MatchLabels: labels}
	template := func(restart corev1.RestartPolicy) corev1.PodTemplateSpec {
		t := corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}}
		t.Spec.Containers, t.Spec.RestartPolicy = []corev1.Container{{Name: "c", Image: "i:1"}}, restart
		return t
	}
	three := int32(3)
	w := &workloads{
		deployment:  &appsv1.Deployment{ObjectMeta: meta, Spec: appsv1.DeploymentSpec{Replicas: &three, Selector: selector, Template: template(corev1.RestartPolicyAlways)}},
		replicaSet:  &appsv1.ReplicaSet{ObjectMeta: meta, Spec: appsv1.ReplicaSetSpec{Replicas: &three, Selector: selector, Template: template(corev1.RestartPolicyAlways)}},
		statefulSet: &appsv1.StatefulSet{ObjectMeta: meta, Spec: appsv1.StatefulSetSpec{Replicas: &three, Selector: selector, Template: template(corev1.RestartPolicyAlways)}},
		daemonSet:   &appsv1.DaemonSet{ObjectMeta: meta, Spec: appsv1.DaemonSetSpec{Selector: selector, Template: template(corev1.RestartPolicyAlways)}},
		job:         &batchv1.Job{ObjectMeta: meta, Spec: batchv1.JobSpec{Completions: &three, Template: template(corev1.RestartPolicyNever)}},
		claim:       &corev1.PersistentVolumeClaim{ObjectMeta: meta},
		service:     &corev1.Service{ObjectMeta: meta, Spec: corev1.ServiceSpec{Type: corev1.ServiceTypeLoadBalancer, Ports: []corev1.ServicePort{{Port: 80}}}},
		ingress:     &networkingv1.Ingress{ObjectMeta: meta},
	}
	w.claim.Spec.AccessModes = []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}
	w.claim.Spec.Resources.Requests = corev1.ResourceList{corev1.ResourceStorage: resource.MustParse("1Gi")}
	w.ingress.Spec.DefaultBackend = &networkingv1.IngressBackend{Service: &networkingv1.IngressServiceBackend{Name: "web", Port: networkingv1.ServiceBackendPort{Number: 80}}}
	return w
}

// complete says which objects are not where their spec wants them. A Job that has failed is.
func (w *workloads) complete(env *simtest.Env) error {
	err := errors.Join(env.Get(w.deployment), env.Get(w.replicaSet), env.Get(w.statefulSet), env.Get(w.daemonSet), env.Get(w.job), env.Get(w.claim), env.Get(w.service),
		env.Get(w.ingress))
	if err != nil {
		return err
	}
	finished := false
	for _, c := range w.job.Status.Conditions {
		finished = finished || c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed
	}
	set, sets := w.statefulSet.Status, w.replicaSet.Status
	for what, ok := range map[string]bool{
		"Deployment":  rolledOut(w.deployment),
		"ReplicaSet":  sets.ObservedGeneration == w.replicaSet.Generation && sets.AvailableReplicas == *w.replicaSet.Spec.Replicas,
		"StatefulSet": set.ObservedGeneration == w.statefulSet.Generation && set.AvailableReplicas == *w.statefulSet.Spec.Replicas && set.CurrentRevision == set.UpdateRevision,
		"DaemonSet":   w.daemonSet.Status.ObservedGeneration == w.daemonSet.Generation && w.daemonSet.Status.NumberAvailable == 1,
		"Job":         finished,
		"PersistentVolumeClaim": w.claim.Status.Phase == corev1.ClaimBound && w.claim.Spec.VolumeName != "" &&
			w.claim.Status.Capacity.Storage().String() == "1Gi",
		"Service": len(w.service.Status.LoadBalancer.Ingress) == 1,
		"Ingress": len(w.ingress.Status.LoadBalancer.Ingress) == 1,
	} {
		if !ok {
			return fmt.Errorf("the %s is not there yet", what)
		}
	}
	return nil
}

// rolledOut is what `kubectl rollout status` waits for.
func rolledOut(d *appsv1.Deployment) bool {
	s := d.Status
	return s.ObservedGeneration == d.Generation && s.UpdatedReplicas == *d.Spec.Replicas && s.Replicas == s.UpdatedReplicas && s.AvailableReplicas == s.UpdatedReplicas
}

// The status of each kind follows its spec, also after a change, and when nothing goes wrong any more it comes to rest.
func TestWorkloadSet(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 4, Stages: []string{"workload", "workload-faults"}}, func(env *simtest.Env) {
		w := newWorkloads()
		env.Create(w.deployment, w.replicaSet, w.statefulSet, w.daemonSet, w.job, w.claim, w.service, w.ingress)
		env.Advance(2 * time.Hour)
		env.Mutate(w.deployment, func() { *w.deployment.Spec.Replicas = 1 })
		env.Mutate(w.statefulSet, func() { w.statefulSet.Spec.Template.Spec.Containers[0].Image = "i:2" })
		env.StopFaults()
		env.Eventually("everything is there", time.Hour, func() error { return w.complete(env) })
		env.Always("everything is there", func() error { return w.complete(env) })
		env.Advance(3 * time.Hour)
	})
}

// What clients get wrong is to be seen: a rollout that looks complete because it is the last one's, one that is stuck, a Deployment that is not
// available for a while, a Job that fails, and one that goes on although a Pod of it has failed.
func TestWorkloadSetShowsMistakes(t *testing.T) {
	never := func(name string, stages []string, bad func(*workloads) bool) *simtest.Finding {
		return simtest.Find(t, simtest.Options{Seeds: 8, Mix: "none", Stages: stages}, func(env *simtest.Env) {
			w := newWorkloads()
			env.Create(w.deployment, w.job)
			env.Always(name, func() error {
				if env.Get(w.deployment) == nil && env.Get(w.job) == nil && bad(w) {
					return errors.New("it happens")
				}
				return nil
			})
			env.Eventually("the Deployment is rolled out", time.Hour, func() error {
				if env.Get(w.deployment) != nil || !rolledOut(w.deployment) {
					return errors.New("not yet")
				}
				return nil
			})
			env.Mutate(w.deployment, func() { w.deployment.Spec.Template.Spec.Containers[0].Image = "i:2" })
			env.Advance(2 * time.Hour)
		})
	}
	condition := func(d *appsv1.Deployment, typ appsv1.DeploymentConditionType, status corev1.ConditionStatus, reason string) bool {
		return slices.ContainsFunc(d.Status.Conditions, func(c appsv1.DeploymentCondition) bool {
			return c.Type == typ && c.Status == status && c.Reason == reason
		})
	}
	for _, tt := range []struct {
		name   string
		faults bool // only the set of faults shows it
		bad    func(*workloads) bool
	}{
		{"no status of an old generation looks complete", false, func(w *workloads) bool {
			return w.deployment.Generation == 2 && w.deployment.Status.ObservedGeneration == 1 && w.deployment.Status.AvailableReplicas == 3
		}},
		{"no rollout exceeds its deadline", true, func(w *workloads) bool {
			return condition(w.deployment, appsv1.DeploymentProgressing, corev1.ConditionFalse, "ProgressDeadlineExceeded")
		}},
		{"what was available stays so", true, func(w *workloads) bool {
			return condition(w.deployment, appsv1.DeploymentProgressing, corev1.ConditionTrue, "NewReplicaSetAvailable") &&
				condition(w.deployment, appsv1.DeploymentAvailable, corev1.ConditionFalse, "MinimumReplicasUnavailable") && w.deployment.Status.AvailableReplicas == 0
		}},
		{"no Job has counted its Pods before it is complete", false, func(w *workloads) bool {
			return w.job.Status.Succeeded == 3 && w.job.Status.CompletionTime == nil
		}},
		{"no Job goes on after a Pod has failed", true, func(w *workloads) bool {
			return w.job.Status.Failed == 1 && w.job.Status.Active > 0
		}},
		{"no Job fails", true, func(w *workloads) bool { return w.job.Status.Failed == *w.job.Spec.BackoffLimit+1 }},
	} {
		if f := never(tt.name, []string{"workload"}, tt.bad); (f == nil) != tt.faults {
			t.Errorf("%s, with the set workload: %v", tt.name, f)
		}
		if f := never(tt.name, []string{"workload", "workload-faults"}, tt.bad); f == nil || f.Property != tt.name {
			t.Errorf("%s, with the set workload-faults: %v", tt.name, f)
		}
	}
}

// A Job that says how long it is kept is gone then, and one that does not stays.
func TestWorkloadSetDeletesFinishedJobs(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 4, Mix: "none", Stages: []string{"workload"}}, func(env *simtest.Env) {
		ttl := int32(30)
		kept, expires := newWorkloads().job, newWorkloads().job
		expires.Name, expires.Spec.TTLSecondsAfterFinished = "expires", &ttl
		env.Create(kept, expires)
		env.Eventually("it is complete", time.Hour, func() error {
			if env.Get(expires) != nil || expires.Status.CompletionTime == nil {
				return errors.New("not yet")
			}
			return nil
		})
		env.Advance(29 * time.Second)
		if err := env.Get(expires); err != nil {
			t.Errorf("after 29 s: %v", err)
		}
		env.Advance(2 * time.Second)
		if env.Get(expires) == nil {
			t.Error("after 31 s it is still there")
		}
		env.Advance(time.Hour)
		if err := env.Get(kept); err != nil {
			t.Error(err)
		}
	})
}
