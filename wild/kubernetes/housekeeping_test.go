package kubernetes_test

import (
	"errors"
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	finishedGo  = "Jobs that have finished go after their time"
	finishedBe  = "no Job goes before its time"
	furnished   = "each namespace has its ServiceAccount and the root certificates"
	aggregated  = "a ClusterRole has the rules of those that it selects"
	certificate = "-----BEGIN CERTIFICATE-----"
)

// In the end Jobs that have finished are gone after ttlSecondsAfterFinished, and none goes before (kubernetes.io/docs/concepts/workloads/controllers/ttlafterfinished). The time
// that counts is the one that the Job states when it goes.
func TestFinishedJobs(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		seen := map[types.UID]batchv1.Job{}
		env.Always(finishedBe, func() error { return jobsStay(env, seen) })
		start(env, "finished", wild.FinishedJobs)
		for range 20 {
			job := endingJob(fmt.Sprintf("j-%d", env.Rand().IntN(3)))
			switch there := env.Get(job) == nil; {
			case !there:
				env.Create(endingJob(job.Name))
			case job.DeletionTimestamp != nil:
				env.Mutate(job, func() { job.Finalizers = nil })
			case len(job.Status.Conditions) == 0:
				end(env, job)
			default:
				env.Mutate(job, func() { job.Spec.TTLSecondsAfterFinished = ptr.To(int32(10 + env.Rand().IntN(60))) })
			}
			pause(env, 20*time.Second)
		}
		env.StopFaults()
		env.Eventually(finishedGo, time.Hour, func() error {
			var jobs batchv1.JobList
			if err := env.List(&jobs, "default"); err != nil {
				return err
			}
			for _, j := range jobs.Items {
				if len(j.Status.Conditions) > 0 && j.DeletionTimestamp == nil {
					return fmt.Errorf("%s has finished at %v, and is there", j.Name, j.Status.Conditions[0].LastTransitionTime)
				}
			}
			return nil
		})
	})
}

// end says of a Job that it is complete, as its controller does.
func end(env *simtest.Env, job *batchv1.Job) {
	now := metav1.NewTime(env.Now())
	job.Status.StartTime, job.Status.CompletionTime = &now, &now
	for _, c := range []batchv1.JobConditionType{batchv1.JobComplete, batchv1.JobSuccessCriteriaMet} {
		job.Status.Conditions = append(job.Status.Conditions, batchv1.JobCondition{Type: c, Status: corev1.ConditionTrue, LastTransitionTime: now})
	}
	env.UpdateStatus(job)
}

// endingJob is a Job that the test ends. It is held, so that its deletion is seen.
func endingJob(name string) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Finalizers: []string{held}},
		Spec:       batchv1.JobSpec{TTLSecondsAfterFinished: ptr.To[int32](30), Template: template(nil, corev1.RestartPolicyNever)},
	}
}

// jobsStay fails if a Job that is being deleted was not to go yet.
func jobsStay(env *simtest.Env, seen map[types.UID]batchv1.Job) error {
	var jobs batchv1.JobList
	if err := env.List(&jobs, "default"); err != nil {
		return err
	}
	for _, j := range jobs.Items {
		before, known := seen[j.UID]
		if seen[j.UID] = j; j.DeletionTimestamp == nil || known && before.DeletionTimestamp != nil {
			continue
		}
		if len(before.Status.Conditions) == 0 {
			return fmt.Errorf("%s has not finished, and is being deleted", j.Name)
		}
		// Both times are in whole seconds.
		finished, after := before.Status.Conditions[0].LastTransitionTime, time.Duration(*before.Spec.TTLSecondsAfterFinished)*time.Second
		if env.Now().Before(finished.Add(after)) && !extended(before) {
			return fmt.Errorf("%s has finished at %v, was to stay for %v, and is being deleted", j.Name, finished, after)
		}
	}
	return nil
}

// extended reports whether somebody has set another time: the controller reads the Job, and deletes it, without a precondition for what it has read.
func extended(j batchv1.Job) bool { return *j.Spec.TTLSecondsAfterFinished != 30 }

// In the end each namespace has the ServiceAccount default and the ConfigMap of root certificates as they should be, whoever deletes or changes them. What comes and goes
// without being seen stays away, which is a finding of its own; so the controllers are started again before the end.
func TestNamespaceFurniture(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		start(env, "serviceaccounts", wild.ServiceAccounts)
		start(env, "certificates", wild.RootCertificates([]byte(certificate)))
		for range 20 {
			n := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n-%d", env.Rand().IntN(3))}}
			if env.Get(n) != nil {
				env.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: n.Name}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}})
			} else {
				unfurnish(env, n.Name)
			}
			pause(env, 20*time.Second)
		}
		startAnew(env, "serviceaccounts", "certificates")
		env.Eventually(furnished, time.Hour, func() error { return areFurnished(env) })
	})
}

// A namespace is created, and its ServiceAccount with it, while the watch of ServiceAccounts is down; the ServiceAccount is deleted before the next list, which has nothing to tell. So
// the controller neither hears of the deletion, nor does it look again: neither of its informers resyncs. Without the ServiceAccount no Pod can be created in the namespace.
func TestUnseenServiceAccountStaysAway(t *testing.T) {
	wantFound(t, simtest.Options{Mix: "none", Seeds: 20}, func(env *simtest.Env) {
		start(env, "serviceaccounts", wild.ServiceAccounts)
		start(env, "certificates", wild.RootCertificates([]byte(certificate)))
		env.Advance(time.Minute)
		missUpdatesOf(env, "serviceaccounts", "serviceaccounts", func() {
			env.Create(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "n-0"}, Status: corev1.NamespaceStatus{Phase: corev1.NamespaceActive}})
			env.Settle()
			env.Delete(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "n-0", Name: "default"}})
		}, func(int) simtest.Object {
			return &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", GenerateName: "other-"}}
		})
		env.Eventually(furnished, time.Hour, func() error { return areFurnished(env) })
	}, furnished)
}

// unfurnish deletes or changes something that a namespace has. The request may fail.
func unfurnish(env *simtest.Env, namespace string) {
	client, err := kubernetes.NewForConfig(env.RESTConfig("user"))
	if err != nil {
		return
	}
	switch env.Rand().IntN(3) {
	case 0:
		_ = client.CoreV1().ServiceAccounts(namespace).Delete(env.Context(), "default", metav1.DeleteOptions{})
	case 1:
		_ = client.CoreV1().ConfigMaps(namespace).Delete(env.Context(), "kube-root-ca.crt", metav1.DeleteOptions{})
	default:
		_, _ = client.CoreV1().ConfigMaps(namespace).Patch(env.Context(), "kube-root-ca.crt", types.MergePatchType, []byte(`{"data":{"ca.crt":"another"}}`), metav1.PatchOptions{})
	}
}

func areFurnished(env *simtest.Env) error {
	var namespaces corev1.NamespaceList
	if err := env.List(&namespaces, ""); err != nil {
		return err
	}
	for _, n := range namespaces.Items {
		root := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: n.Name, Name: "kube-root-ca.crt"}}
		account := &corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: n.Name, Name: "default"}}
		if err := errors.Join(env.Get(root), env.Get(account)); err != nil {
			return err
		}
		if root.Data["ca.crt"] != certificate {
			return fmt.Errorf("the root certificates in %s are %q", n.Name, root.Data["ca.crt"])
		}
	}
	return nil
}

// In the end an aggregated ClusterRole has the rules of those that it selects, and no others (kubernetes.io/docs/reference/access-authn-authz/rbac, aggregated ClusterRoles).
func TestClusterRoles(t *testing.T) {
	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		selector := metav1.LabelSelector{MatchLabels: map[string]string{"example.com/part": "true"}}
		env.Create(&rbacv1.ClusterRole{
			ObjectMeta:      metav1.ObjectMeta{Name: "all"},
			AggregationRule: &rbacv1.AggregationRule{ClusterRoleSelectors: []metav1.LabelSelector{selector}},
		})
		start(env, "clusterroles", wild.ClusterRoles)
		for range 20 {
			part := &rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("part-%d", env.Rand().IntN(3))}}
			rules := []rbacv1.PolicyRule{{APIGroups: []string{""}, Resources: []string{part.Name}, Verbs: []string{fmt.Sprintf("verb-%d", env.Rand().IntN(3))}}}
			switch there := env.Get(part) == nil; {
			case !there:
				env.Create(&rbacv1.ClusterRole{ObjectMeta: metav1.ObjectMeta{Name: part.Name, Labels: selector.MatchLabels}, Rules: rules})
			case env.Rand().IntN(3) == 0:
				env.Delete(part)
			default:
				env.Mutate(part, func() { part.Rules = rules })
			}
			pause(env, 10*time.Second)
		}
		env.StopFaults()
		env.Eventually(aggregated, time.Hour, func() error {
			var roles rbacv1.ClusterRoleList
			if err := env.List(&roles, ""); err != nil {
				return err
			}
			want, have := map[string]bool{}, map[string]bool{}
			for _, r := range roles.Items {
				for _, rule := range r.Rules {
					into := want
					if r.AggregationRule != nil {
						into = have
					}
					into[rule.Resources[0]+" "+rule.Verbs[0]] = true
				}
			}
			for _, rules := range []map[string]bool{want, have} {
				for rule := range rules { // the order is that of no requirement: the first error is one of several
					if !want[rule] || !have[rule] {
						return fmt.Errorf("%s is wanted: %t, it is there: %t", rule, want[rule], have[rule])
					}
				}
			}
			return nil
		})
	})
}
