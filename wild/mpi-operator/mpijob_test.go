package mpioperator_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/kubeflow/mpi-operator/pkg/apis/kubeflow/v2beta1"
	mpischeme "github.com/kubeflow/mpi-operator/pkg/client/clientset/versioned/scheme"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	mpioperator "github.com/informersim/informersim/wild/mpi-operator"
)

const (
	asWanted    = "each MPIJob ends, or is suspended, and then has no workers"
	isRunning   = "an MPIJob runs"
	noneIsLeft  = "an MPIJob that has ended has no workers"
	hasLauncher = "ten minutes after the last failure an MPIJob has its launcher"
	// changesEnv is set in the process that a changed cache is to end.
	changesEnv = "MPI_OPERATOR_CHANGES_CACHE"
)

// In the end each MPIJob has ended and has no workers, or is suspended and has none, whatever is created, deleted, and grows (kubeflow.org/docs/components/trainer/legacy-v1/user-guides/mpi).
// None is suspended or resumed once it is there, and none shrinks, which are findings of their own.
func TestMPIJobs(t *testing.T) {
	o := options(t)
	o.Properties = simtest.WellBehaved()
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Replicas("mpi-operator", 2, func(ctx context.Context, replica string) error {
			return mpioperator.Elect(ctx, env.RESTConfig(replica), replica)
		})
		for n := range 12 {
			change(env, n)
			env.Advance(time.Duration(env.Rand().IntN(40)) * time.Second)
		}
		env.StopFaults()
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	})
}

// A launcher is resumed in the informer's cache before the update is sent (syncHandler). If that fails, the next look at it finds nothing to do
// (kubeflow/mpi-operator#819, mended since).
func TestFailedResumeIsNotTriedAgain(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		r := failedResume(env)
		env.Eventually(isRunning, 10*time.Minute, func() error { return runs(env, r) })
	})
	hasFound(t, found, isRunning, "{Suspended False MPIJobResumed")
}

// Without a word of what is to hold, the same is found by what the controller writes once its informers have listed anew.
func TestFailedResumeIsForgotten(t *testing.T) {
	found := find(t, simtest.WellBehaved(), func(env *simtest.Env) {
		failedResume(env)
		env.Advance(time.Minute)
	})
	hasFound(t, found, simtest.NoForgottenChange, "spec.suspend of jobs default/a-launcher to false")
}

func failedResume(env *simtest.Env) *v2beta1.MPIJob {
	setUp(env)
	r := newMPIJob("a", 2)
	r.Spec.RunPolicy.Suspend = ptr.To(true)
	env.Create(r)
	env.Advance(time.Minute)
	env.Inject(fault.Fault{Kind: fault.Write500, Target: "mpi-operator", Verb: "update", Resource: "jobs"})
	env.Mutate(r, func() { r.Spec.RunPolicy.Suspend = nil })
	return r
}

// An MPIJob shrinks while its launcher ends: who looks at one that has ended removes as many workers as it asks for (deleteWorkerPods), and no longer those above that (getOrCreateWorker).
func TestShrunkMPIJobLeavesWorker(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		setUp(env)
		r := newMPIJob("a", 2)
		env.Create(r)
		env.Eventually(isRunning, time.Minute, func() error { return runs(env, r) })
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "mpi-operator", Resource: "mpijobs", Duration: time.Minute})
		env.Mutate(r, func() { r.Spec.MPIReplicaSpecs[v2beta1.MPIReplicaTypeWorker].Replicas = ptr.To[int32](1) })
		env.Eventually(noneIsLeft, 30*time.Minute, func() error { return agree(env) })
	})
	hasFound(t, found, noneIsLeft, "has 1 workers")
}

// What happens to a Pod puts its MPIJob back with the rate limiter that counts failures (enqueueMPIJob), and six workers that start are thirty failures to it. If the last of them cannot be
// created for half a minute, nothing is tried for a quarter of an hour.
func TestEventsCountAsFailures(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		setUp(env)
		env.Inject(fault.Fault{Kind: fault.Write500, Target: "mpi-operator", Verb: "create", Resource: "pods", Name: "a-worker-5", Count: fault.Lasting, Until: 30 * time.Second})
		r := newMPIJob("a", 6)
		env.Create(r)
		env.Advance(30 * time.Second)
		env.Eventually(hasLauncher, 10*time.Minute, func() error {
			return env.Get(&batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "a-launcher"}})
		})
	})
	hasFound(t, found, hasLauncher, "not found")
}

// The controller puts the defaults into the MPIJob of its informer's cache, in place of a copy (addMPIJob).
func TestCacheIsChanged(t *testing.T) {
	if os.Getenv(changesEnv) != "" {
		o := options(t)
		o.Seeds, o.Mix, o.MutationDetector = 1, "none", simtest.On
		simtest.Run(t, o, func(env *simtest.Env) {
			setUp(env)
			env.Create(newMPIJob("a", 1))
			env.Advance(time.Minute)
		})
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", "^"+t.Name()+"$", "-simtest.traces="+t.TempDir())
	cmd.Env = append(os.Environ(), changesEnv+"=1")
	out, err := cmd.CombinedOutput()
	if found := "panic: cache *v2beta1.MPIJob modified"; err == nil || !strings.Contains(string(out), found) {
		t.Fatalf("no %q, with %v: has the controller been mended?\n%s", found, err, out)
	}
	m := regexp.MustCompile(`simtest: the process died during a run: \S+, seed (\d+)`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("it does not say in which run:\n%s", out)
	}
	t.Logf("found with seed %s: the controller changes its informer's cache", m[1])
}

func find(t *testing.T, ready []simtest.Property, body func(env *simtest.Env)) *simtest.Finding {
	t.Helper()
	o := options(t)
	o.Mix, o.Properties = "none", ready
	if ready != nil {
		o.CrashProbability = 1e-9
	}
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

// options have the CustomResourceDefinition that the project releases, and two Nodes, whose Pods do not fail: nobody makes a worker anew that has failed. The controller has an event
// broadcaster that nobody ends, and changes a cache (docs/findings.md).
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/kubeflow/mpi-operator").Output()
	if err != nil {
		t.Fatal(err)
	}
	return simtest.Options{
		Scheme: mpischeme.Scheme, CRDs: []string{filepath.Join(strings.TrimSpace(string(dir)), "manifests", "base", "kubeflow.org_mpijobs.yaml")},
		Nodes: 2, Stages: []string{"pod"}, Controllers: []string{"job"}, GarbageCollection: true, AllowLeaks: true, MutationDetector: simtest.Off,
	}
}

func setUp(env *simtest.Env) {
	env.Go("mpi-operator", func(ctx context.Context) error { return mpioperator.Run(ctx, env.RESTConfig("mpi-operator")) })
}

// newMPIJob has a launcher that ends by itself, and workers that serve until somebody deletes them.
func newMPIJob(name string, workers int32) *v2beta1.MPIJob {
	pod := func() corev1.PodTemplateSpec {
		return corev1.PodTemplateSpec{Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "image"}}}}
	}
	serves := pod()
	serves.Annotations = map[string]string{"pod-complete.stage.kwok.x-k8s.io/delay": "1000h", "pod-complete.stage.kwok.x-k8s.io/jitter-delay": "1000h"}
	return &v2beta1.MPIJob{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v2beta1.MPIJobSpec{
		RunPolicy: v2beta1.RunPolicy{CleanPodPolicy: ptr.To(v2beta1.CleanPodPolicyRunning)},
		// Without it the launcher is created before there are workers, and has ended before it could be suspended.
		LauncherCreationPolicy: v2beta1.LauncherCreationPolicyWaitForWorkersReady,
		MPIReplicaSpecs: map[v2beta1.MPIReplicaType]*v2beta1.ReplicaSpec{
			v2beta1.MPIReplicaTypeLauncher: {Replicas: ptr.To[int32](1), Template: pod()},
			v2beta1.MPIReplicaTypeWorker:   {Replicas: &workers, Template: serves},
		},
	}}
}

// change creates an MPIJob, perhaps suspended, or deletes or enlarges one.
func change(env *simtest.Env, n int) {
	r := newMPIJob(fmt.Sprintf("j%d", env.Rand().IntN(3)), 2)
	if env.Get(r) != nil {
		r.Spec.RunPolicy.Suspend = ptr.To(env.Rand().IntN(3) == 0)
		r.Spec.RunPolicy.CleanPodPolicy = ptr.To([]v2beta1.CleanPodPolicy{v2beta1.CleanPodPolicyAll, v2beta1.CleanPodPolicyRunning}[env.Rand().IntN(2)])
		if env.Rand().IntN(2) == 0 {
			r.Spec.LauncherCreationPolicy = v2beta1.LauncherCreationPolicyAtStartup
		}
		env.Create(r)
		return
	}
	if env.Rand().IntN(2) == 0 {
		env.Delete(r)
		return
	}
	env.Mutate(r, func() { *r.Spec.MPIReplicaSpecs[v2beta1.MPIReplicaTypeWorker].Replicas++ })
}

// runs says whether a launcher runs, and its MPIJob says so.
func runs(env *simtest.Env, r *v2beta1.MPIJob) error {
	if err := env.Get(r); err != nil {
		return err
	}
	for _, c := range r.Status.Conditions {
		if c.Type == v2beta1.JobRunning && c.Status == corev1.ConditionTrue {
			return nil
		}
	}
	return fmt.Errorf("it does not run: %v", r.Status.Conditions)
}

func agree(env *simtest.Env) error {
	var all v2beta1.MPIJobList
	var pods corev1.PodList
	if err := errors.Join(env.List(&all, ""), env.List(&pods, "")); err != nil {
		return err
	}
	for _, r := range all.Items {
		workers := 0
		for _, p := range pods.Items {
			if metav1.IsControlledBy(&p, &r) {
				workers++
			}
		}
		if suspended := ptr.Deref(r.Spec.RunPolicy.Suspend, false); !suspended && r.Status.CompletionTime == nil || workers != 0 {
			return fmt.Errorf("the MPIJob %s (suspended: %v) has %d workers, and says %v", r.Name, suspended, workers, r.Status.Conditions)
		}
	}
	return nil
}
