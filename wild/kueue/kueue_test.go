package kueue_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/transport"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"
	kueuev1 "sigs.k8s.io/kueue/apis/kueue/v1beta1"
	"sigs.k8s.io/yaml"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	"github.com/informersim/informersim/wild/kueue"
)

const (
	allEnd      = "each Job ends, and no Workload is left of one that has gone"
	withinQuota = "no more is admitted than the quota allows"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(simtest.Logger())
	os.Exit(m.Run())
}

// A Job whose Workload was created, which the cache does not know yet, is looked at again after a nanosecond, without a limit of its rate (ReconcileGenericJob; kubernetes-sigs/kueue#12931, mended in July 2026).
func TestUnseenWorkloadIsCreatedInALoop(t *testing.T) {
	found := find(t, simtest.WellBehaved(), func(env *simtest.Env) {
		setUp(env)
		env.Advance(time.Minute)
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "kueue", Resource: "workloads", Duration: 20 * time.Minute})
		env.Create(newJob("j", "a", 1))
		env.Advance(20 * time.Minute)
	})
	hasFound(t, found, simtest.NoHotReconcile, "kueue sends POST /apis/kueue.x-k8s.io/v1beta1/namespaces/default/workloads ")
}

// Whoever deletes a Job without a propagation policy, or with kubectl's --cascade=orphan, has its dependents orphaned. Its Workload, which is one of these, is left, and keeps what was reserved for it
// (kubernetes-sigs/kueue#1789, mended in 2026 behind a feature gate).
func TestWorkloadOfOrphansKeepsQuota(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		setUp(env)
		j := newJob("j", "a", 1)
		env.Create(j)
		env.Advance(5 * time.Second)
		env.Delete(j)
		env.Eventually(allEnd, 30*time.Minute, func() error { return ended(env) })
	})
	hasFound(t, found, allEnd, "the Workload job-j-")
}

func find(t *testing.T, ready []simtest.Property, body func(env *simtest.Env)) *simtest.Finding {
	t.Helper()
	o := options(t)
	o.Mix, o.Stages, o.Properties = "none", []string{"pod"}, ready
	return simtest.Find(t, o, body)
}

func hasFound(t *testing.T, found *simtest.Finding, property, message string) {
	t.Helper()
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != property || !strings.Contains(found.Message, message) {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// patient has whoever creates what exists wait for a second (TestUnseenWorkloadIsCreatedInALoop).
func patient(next http.RoundTripper) http.RoundTripper { return pause{next} }

type pause struct{ http.RoundTripper }

func (p pause) RoundTrip(r *http.Request) (*http.Response, error) {
	res, err := p.RoundTripper.RoundTrip(r)
	if err == nil && res.StatusCode == http.StatusConflict && r.Method == http.MethodPost && strings.HasSuffix(r.URL.Path, "/workloads") {
		time.Sleep(time.Second)
	}
	return res, err
}

// In the end each Job has ended that is in a queue, and no Workload is left of one that was deleted; never are more Workloads admitted than the quota allows (kueue.sigs.k8s.io/docs/concepts).
func TestJobs(t *testing.T) {
	o := options(t)
	o.Properties = simtest.WellBehaved()
	simtest.Run(t, o, func(env *simtest.Env) {
		setUp(env, patient)
		env.Always(withinQuota, func() error { return admitted(env) })
		for n := range 10 {
			change(env, n)
			env.Advance(time.Duration(env.Rand().IntN(20)) * time.Second)
		}
		env.StopFaults()
		env.Eventually(allEnd, time.Hour, func() error { return ended(env) })
	})
}

// options have the CustomResourceDefinitions and, of the webhooks that the project releases, those of its own kinds and of Jobs.
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/kueue").Output()
	if err != nil {
		t.Fatal(err)
	}
	components := filepath.Join(strings.TrimSpace(string(dir)), "config", "components")
	return simtest.Options{
		Scheme: kueue.NewScheme(), CRDs: []string{filepath.Join(components, "crd", "bases")},
		Webhooks: simtest.Webhooks{Configurations: []string{served(t, filepath.Join(components, "webhook", "manifests.yaml"))}},
		Nodes:    2, Controllers: []string{"job", "namespace"}, GarbageCollection: true,
		AllowLeaks: true, // the scheduler waits for a condition that nobody signals once its context has ended
	}
}

// served writes the configurations of a file without the webhooks of kinds whose integrations are not enabled.
func served(t *testing.T, file string) string {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var all [][]byte
	for doc := range bytes.SplitSeq(data, []byte("\n---\n")) {
		var o map[string]any
		if err := yaml.Unmarshal(doc, &o); err != nil {
			t.Fatal(err)
		}
		hooks, _ := o["webhooks"].([]any)
		o["webhooks"] = slices.DeleteFunc(hooks, func(h any) bool {
			text := fmt.Sprint(h)
			return !strings.Contains(text, "-kueue-x-k8s-io-") && !strings.Contains(text, "-batch-v1-job")
		})
		doc, err := yaml.Marshal(o)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, doc)
	}
	out := filepath.Join(t.TempDir(), "webhooks.yaml")
	if err := os.WriteFile(out, bytes.Join(all, []byte("\n---\n")), 0o644); err != nil {
		t.Fatal(err)
	}
	return out
}

func setUp(env *simtest.Env, wrap ...transport.WrapperFunc) {
	env.Go("kueue", func(ctx context.Context) error {
		cfg := env.RESTConfig("kueue")
		for _, w := range wrap {
			cfg.Wrap(w)
		}
		return kueue.Run(ctx, cfg, func(h http.Handler) { env.ServeWebhooks("kueue", h) })
	})
	env.Advance(time.Second) // nothing is created before its webhook serves
	env.Create(&kueuev1.ResourceFlavor{ObjectMeta: metav1.ObjectMeta{Name: "flavor"}}, newClusterQueue("a", "3"), newClusterQueue("b", "2"))
	for _, name := range []string{"a", "b"} {
		env.Create(&kueuev1.LocalQueue{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: kueuev1.LocalQueueSpec{ClusterQueue: kueuev1.ClusterQueueReference(name)}})
	}
}

func newClusterQueue(name, cpus string) *kueuev1.ClusterQueue {
	return &kueuev1.ClusterQueue{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: kueuev1.ClusterQueueSpec{
		Cohort: "all", NamespaceSelector: &metav1.LabelSelector{},
		Preemption: &kueuev1.ClusterQueuePreemption{ReclaimWithinCohort: kueuev1.PreemptionPolicyAny, WithinClusterQueue: kueuev1.PreemptionPolicyLowerPriority},
		ResourceGroups: []kueuev1.ResourceGroup{{
			CoveredResources: []corev1.ResourceName{corev1.ResourceCPU},
			Flavors:          []kueuev1.FlavorQuotas{{Name: "flavor", Resources: []kueuev1.ResourceQuota{{Name: corev1.ResourceCPU, NominalQuota: resource.MustParse(cpus)}}}},
		}},
	}}
}

func newJob(name, queue string, pods int32) *batchv1.Job {
	one := corev1.ResourceList{corev1.ResourceCPU: resource.MustParse("1")}
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"kueue.x-k8s.io/queue-name": queue}},
		Spec: batchv1.JobSpec{
			Completions: ptr.To(pods), Parallelism: ptr.To(pods), BackoffLimit: ptr.To[int32](1000),
			Template: corev1.PodTemplateSpec{Spec: corev1.PodSpec{
				RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "c", Image: "image", Resources: corev1.ResourceRequirements{Requests: one}}},
			}},
		},
	}
}

// change creates a Job, or deletes one, by its owner: the Workload of a Job that is deleted otherwise is left (TestWorkloadOfOrphansKeepsQuota). No name comes again: a Job of Kubernetes' that is made anew may never start (kubernetes#131917).
func change(env *simtest.Env, n int) {
	var owners corev1.ConfigMapList
	if err := env.List(&owners, "default"); err == nil && len(owners.Items) >= 2 && env.Rand().IntN(4) == 0 {
		env.Delete(&owners.Items[env.Rand().IntN(len(owners.Items))])
		return
	}
	owner := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: fmt.Sprintf("j%d", n)}}
	env.Create(owner)
	j := newJob(owner.Name, []string{"a", "b"}[env.Rand().IntN(2)], 1+env.Rand().Int32N(3))
	j.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "ConfigMap", Name: owner.Name, UID: owner.UID}}
	env.Create(j)
}

func admitted(env *simtest.Env) error {
	var all kueuev1.WorkloadList
	if err := env.List(&all, ""); err != nil {
		return err
	}
	var sum int64
	var names []string
	for _, w := range all.Items {
		if w.Status.Admission == nil || !meta.IsStatusConditionTrue(w.Status.Conditions, kueuev1.WorkloadQuotaReserved) || meta.IsStatusConditionTrue(w.Status.Conditions, kueuev1.WorkloadFinished) {
			continue
		}
		for _, p := range w.Status.Admission.PodSetAssignments {
			sum += p.ResourceUsage.Cpu().Value()
		}
		for _, r := range w.Status.ReclaimablePods { // of Pods that have succeeded, each of one CPU
			sum -= int64(r.Count)
		}
		names = append(names, w.Name)
	}
	if sum > 5 {
		return fmt.Errorf("the Workloads %q have %d of 5 CPUs", names, sum)
	}
	return nil
}

func ended(env *simtest.Env) error {
	var jobs batchv1.JobList
	var all kueuev1.WorkloadList
	if err := errors.Join(env.List(&jobs, ""), env.List(&all, "")); err != nil {
		return err
	}
	for _, j := range jobs.Items {
		if j.Status.CompletionTime == nil {
			return fmt.Errorf("the Job %s has the status %v", j.Name, j.Status)
		}
	}
	for _, w := range all.Items {
		if !meta.IsStatusConditionTrue(w.Status.Conditions, kueuev1.WorkloadFinished) {
			return fmt.Errorf("the Workload %s says %v", w.Name, w.Status.Conditions)
		}
	}
	if len(all.Items) != len(jobs.Items) {
		return fmt.Errorf("there are %d Jobs and %d Workloads", len(jobs.Items), len(all.Items))
	}
	return nil
}
