package tekton_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"strings"
	"testing"
	"time"

	v1 "github.com/tektoncd/pipeline/pkg/apis/pipeline/v1"
	tektonscheme "github.com/tektoncd/pipeline/pkg/client/clientset/versioned/scheme"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"knative.dev/pkg/apis"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	"github.com/informersim/informersim/wild/tekton"
)

const (
	allEnd     = "each run ends, and no Pod of one that has ended runs on"
	succeeds   = "a TaskRun whose step succeeds succeeds"
	noPodLeft  = "a TaskRun that was cancelled has no Pod"
	remainsSo  = "a TaskRun whose Pod has succeeded has not failed"
	noneGoesOn = "no TaskRun of a PipelineRun that was cancelled goes on"
)

// failsAtOnce leaves to TestFailedCreateFailsTaskRun and TestFailedGetFailsTaskRun what they find: a TaskRun fails for good with the first create of its Pod that fails, and with the first get.
var failsAtOnce = []simtest.Exception{
	{Property: simtest.NoFinalFailure, Client: "tekton", Why: "TestFailedCreateFailsTaskRun"},
	{Property: simtest.NoLostEffect, Client: "tekton", Object: "pods", Why: "TestFailedCreateFailsTaskRun"},
	{Property: simtest.NoMistakenAbsence, Client: "tekton", Object: "pods", Why: "TestFailedGetFailsTaskRun: one that has a retry left makes its next Pod"},
}

// In the end each TaskRun has ended, whatever is cancelled, deleted, times out or is tried again (tekton.dev/docs/pipelines/taskruns).
func TestTaskRuns(t *testing.T) {
	o := options(t)
	o.Properties = simtest.WellBehaved(failsAtOnce...)
	simtest.Run(t, o, func(env *simtest.Env) {
		setUp(env)
		for n := range 12 {
			changeTaskRuns(env, n)
			env.Advance(time.Duration(env.Rand().IntN(30)) * time.Second)
		}
		env.StopFaults()
		env.Eventually(allEnd, 2*time.Hour, func() error { return allHaveEnded(env) })
	})
}

// In the end each PipelineRun has ended, and so have its TaskRuns, whatever is cancelled, stopped or deleted (tekton.dev/docs/pipelines/pipelineruns).
func TestPipelineRuns(t *testing.T) {
	o := options(t)
	o.Properties = simtest.WellBehaved(failsAtOnce...)
	simtest.Run(t, o, func(env *simtest.Env) {
		setUp(env)
		for n := range 8 {
			changePipelineRuns(env, n)
			env.Advance(time.Duration(env.Rand().IntN(40)) * time.Second)
		}
		env.StopFaults()
		env.Eventually(allEnd, 2*time.Hour, func() error { return allHaveEnded(env) })
	})
}

// A TaskRun whose Pod could not be created, once, has failed, although nothing is wrong with it (handlePodCreationError takes all but a few errors for a mistake in its spec).
func TestFailedCreateFailsTaskRun(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		setUp(env)
		env.Inject(fault.Fault{Kind: fault.Write500, Target: "tekton", Verb: "create", Resource: "pods"})
		r := newTaskRun("a")
		env.Create(r)
		env.Eventually(succeeds, 10*time.Minute, func() error {
			if err := env.Get(r); err != nil {
				return err
			}
			if c := r.Status.GetCondition(apis.ConditionSucceeded); !c.IsTrue() {
				return fmt.Errorf("%s: %s", c.GetReason(), c.GetMessage())
			}
			return nil
		})
	})
	hasFound(t, found, succeeds, "PodCreationFailed")
}

// Without a word of what is to hold, the same is found by what a status says.
func TestFailedCreateIsFinal(t *testing.T) {
	found := find(t, simtest.WellBehaved(failsAtOnce[1:]...), func(env *simtest.Env) {
		setUp(env)
		env.Inject(fault.Fault{Kind: fault.Write500, Target: "tekton", Verb: "create", Resource: "pods"})
		env.Create(newTaskRun("a"))
		env.Advance(10 * time.Minute)
	})
	hasFound(t, found, simtest.NoFinalFailure, "failed to create task run pod")
}

// A TaskRun has succeeded, and the controller reads its Pod, once, to stop its sidecars. If it cannot, the TaskRun has failed (stopSidecars), and one with a retry left runs again. It reads it, too, whenever it looks at the
// TaskRun anew, such as at its start.
func TestFailedGetFailsTaskRun(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		setUp(env)
		env.Inject(fault.Fault{Kind: fault.List500, Target: "tekton", Verb: "get", Resource: "pods"})
		r := newTaskRun("a")
		env.Create(r)
		env.Always(remainsSo, func() error {
			if env.Get(r) != nil {
				return nil
			}
			var pod corev1.Pod
			c := r.Status.GetCondition(apis.ConditionSucceeded)
			if pod.Namespace, pod.Name = r.Namespace, r.Status.PodName; c.IsFalse() && env.Get(&pod) == nil && pod.Status.Phase == corev1.PodSucceeded {
				return fmt.Errorf("its Pod has succeeded, and it has failed: %s: %s", c.GetReason(), c.GetMessage())
			}
			return nil
		})
		env.Advance(10 * time.Minute)
	})
	hasFound(t, found, remainsSo, "TaskRunStopSidecarFailed")
}

// Without a word, and without a fault before the end, the same is found by what a status says.
func TestFailedGetIsFinal(t *testing.T) {
	found := find(t, simtest.WellBehaved(failsAtOnce[1:]...), func(env *simtest.Env) {
		setUp(env)
		env.Create(newTaskRun("a"))
		env.Advance(time.Minute)
	})
	hasFound(t, found, simtest.NoFinalFailure, "when stopping sidecars")
}

// One that has a retry left runs again.
func TestFailedGetRunsAgain(t *testing.T) {
	found := find(t, simtest.WellBehaved(failsAtOnce[:2]...), func(env *simtest.Env) {
		setUp(env)
		r := newTaskRun("a")
		r.Spec.Retries = 1
		env.Create(r)
		env.Advance(time.Minute)
	})
	hasFound(t, found, simtest.NoMistakenAbsence, "tekton creates pods default/a-pod-retry1 when its get of pods fails")
}

// A TaskRun is cancelled after its Pod was created, and before that could be noted in its status: the controller deletes the Pod that is noted there (failTaskRun), which is none.
func TestCancelledTaskRunLeavesPod(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		setUp(env)
		env.Inject(cannotNote("taskruns", "pods"))
		r := newTaskRun("a")
		env.Create(r)
		env.Advance(time.Second)
		env.Mutate(r, func() { r.Spec.Status = v1.TaskRunSpecStatusCancelled })
		env.Advance(10 * time.Minute)
		env.Eventually(noPodLeft, time.Second, func() error {
			var pods corev1.PodList
			if err := errors.Join(env.Get(r), env.List(&pods, "")); err != nil {
				return err
			}
			if len(pods.Items) > 0 {
				return fmt.Errorf("the TaskRun is %s, and its Pod is %s", r.Status.GetCondition(apis.ConditionSucceeded).GetReason(), pods.Items[0].Status.Phase)
			}
			return nil
		})
	})
	hasFound(t, found, noPodLeft, "the TaskRun is TaskRunCancelled, and its Pod is Succeeded")
}

// A PipelineRun is cancelled after a TaskRun of it was created, and before that could be noted in its status: the controller cancels those that are noted there (cancelPipelineRun), and this one runs to its end.
func TestCancelledPipelineRunLeavesTaskRun(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		setUp(env)
		env.Inject(cannotNote("pipelineruns", "taskruns"))
		r := newPipelineRun("a")
		env.Create(r)
		env.Advance(time.Second)
		env.Mutate(r, func() { r.Spec.Status = v1.PipelineRunSpecStatusCancelled })
		env.Advance(10 * time.Minute)
		env.Eventually(noneGoesOn, time.Second, func() error {
			var tasks v1.TaskRunList
			if err := errors.Join(env.Get(r), env.List(&tasks, "")); err != nil {
				return err
			}
			for _, task := range tasks.Items {
				if !task.IsCancelled() {
					return fmt.Errorf("the PipelineRun is %s, and its TaskRun %s", r.Status.GetCondition(apis.ConditionSucceeded).GetReason(), task.Status.GetCondition(apis.ConditionSucceeded).GetReason())
				}
			}
			return nil
		})
	})
	hasFound(t, found, noneGoesOn, "the PipelineRun is Cancelled, and its TaskRun Succeeded")
}

// cannotNote has updates of a resource fail for two seconds, once something of another one was written.
func cannotNote(resource, written string) fault.Fault {
	return fault.Fault{
		Kind: fault.Write500, Target: "tekton", Verb: "update", Resource: resource, Count: fault.Lasting, Until: 2 * time.Second,
		After: &fault.Trigger{Event: fault.TriggerCommit, Resource: written},
	}
}

func find(t *testing.T, ready []simtest.Property, body func(env *simtest.Env)) *simtest.Finding {
	t.Helper()
	o := options(t)
	o.Mix, o.Stages, o.Properties = "none", []string{"pod"}, ready
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

// options have the CustomResourceDefinitions that the project releases, and two Nodes.
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/tektoncd/pipeline").Output()
	if err != nil {
		t.Fatal(err)
	}
	crds, err := tekton.CRDs(strings.TrimSpace(string(dir)))
	if err != nil {
		t.Fatal(err)
	}
	return simtest.Options{Scheme: tektonscheme.Scheme, Nodes: 2, GarbageCollection: true, CRDs: crds}
}

func setUp(env *simtest.Env) {
	env.Create(&corev1.ServiceAccount{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "default"}})
	env.Go("tekton", func(ctx context.Context) error { return tekton.Run(ctx, env.RESTConfig("tekton")) })
}

func newTaskRun(name string) *v1.TaskRun {
	return &v1.TaskRun{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1.TaskRunSpec{
		ServiceAccountName: "default", Timeout: &metav1.Duration{Duration: time.Hour}, TaskSpec: oneStep(),
	}}
}

func oneStep() *v1.TaskSpec {
	return &v1.TaskSpec{Steps: []v1.Step{{Name: "s", Image: "image", Command: []string{"true"}}}}
}

// newPipelineRun has two tasks, one after the other.
func newPipelineRun(name string) *v1.PipelineRun {
	return &v1.PipelineRun{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1.PipelineRunSpec{
		TaskRunTemplate: v1.PipelineTaskRunTemplate{ServiceAccountName: "default"},
		Timeouts:        &v1.TimeoutFields{Pipeline: &metav1.Duration{Duration: time.Hour}},
		PipelineSpec: &v1.PipelineSpec{Tasks: []v1.PipelineTask{
			{Name: "first", TaskSpec: &v1.EmbeddedTask{TaskSpec: *oneStep()}},
			{Name: "second", TaskSpec: &v1.EmbeddedTask{TaskSpec: *oneStep()}, RunAfter: []string{"first"}},
		}},
	}}
}

// changeTaskRuns creates a TaskRun, or deletes or cancels one of those before.
func changeTaskRuns(env *simtest.Env, n int) {
	draw := env.Rand().IntN(8)
	if n == 0 || draw > 1 {
		r := newTaskRun(fmt.Sprintf("t%d", n))
		r.Spec.Timeout.Duration = []time.Duration{5 * time.Second, time.Minute, time.Hour}[env.Rand().IntN(3)]
		r.Spec.Retries = env.Rand().IntN(2)
		env.Create(r)
		return
	}
	r := newTaskRun(fmt.Sprintf("t%d", env.Rand().IntN(n)))
	switch {
	case env.Get(r) != nil:
	case draw == 0:
		env.Delete(r)
	default:
		env.Mutate(r, func() { r.Spec.Status = v1.TaskRunSpecStatusCancelled })
	}
}

// changePipelineRuns creates a PipelineRun, or deletes, cancels or stops one of those before.
func changePipelineRuns(env *simtest.Env, n int) {
	draw := env.Rand().IntN(8)
	if n == 0 || draw > 2 {
		env.Create(newPipelineRun(fmt.Sprintf("p%d", n)))
		return
	}
	r := newPipelineRun(fmt.Sprintf("p%d", env.Rand().IntN(n)))
	switch {
	case env.Get(r) != nil:
	case draw == 0:
		env.Delete(r)
	default:
		how := []v1.PipelineRunSpecStatus{v1.PipelineRunSpecStatusCancelled, v1.PipelineRunSpecStatusCancelledRunFinally, v1.PipelineRunSpecStatusStoppedRunFinally}
		env.Mutate(r, func() { r.Spec.Status = how[env.Rand().IntN(len(how))] })
	}
}

func allHaveEnded(env *simtest.Env) error {
	var tasks v1.TaskRunList
	var pipelines v1.PipelineRunList
	var pods corev1.PodList
	if err := errors.Join(env.List(&tasks, ""), env.List(&pipelines, ""), env.List(&pods, "")); err != nil {
		return err
	}
	for _, r := range pipelines.Items {
		if !r.IsDone() {
			return fmt.Errorf("the PipelineRun %s has not ended: %v", r.Name, r.Status.Conditions)
		}
	}
	for _, r := range tasks.Items {
		if !r.IsDone() {
			return fmt.Errorf("the TaskRun %s has not ended: %v", r.Name, r.Status.Conditions)
		}
	}
	for _, p := range pods.Items {
		if p.Status.Phase != corev1.PodSucceeded && p.Status.Phase != corev1.PodFailed {
			return fmt.Errorf("the Pod %s is %s", p.Name, p.Status.Phase)
		}
	}
	return nil
}
