package kubernetes_test

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	completes   = "a Job completes, and leaves no finalizer behind"
	countedOnce = "no Pod that succeeded is counted twice"
	countsAll   = "a Pod that succeeded is counted"
	neverBack   = "the counts of a Job never go back"
)

func newJob(name string, mode batchv1.CompletionMode) *batchv1.Job {
	return &batchv1.Job{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name},
		Spec: batchv1.JobSpec{
			Completions: ptr.To[int32](5), Parallelism: ptr.To[int32](2), BackoffLimit: ptr.To[int32](1000), CompletionMode: &mode,
			Template: template(nil, corev1.RestartPolicyNever),
		},
	}
}

// Jobs complete, whatever happens to their Pods, and count none twice, even if it is deleted while they do, or the controller crashes, as long
// as it begins with lists that are up to date (TestRestartedJobCountsTwice). That some are not counted at all has a test of its own, too
// (TestJobForgetsPodThatSucceeded).
func TestJob(t *testing.T) {
	simtest.Run(t, simtest.Options{Nodes: 3, GarbageCollection: true, WatchList: simtest.On, Properties: simtest.WellBehaved()}, testJobs)
}

// kubernetes#105200: a Pod whose finalizer has been removed is still there in a cache that lags, and would be counted again. The controller remembers
// which finalizers it has removed, but not across a restart. With a server that has no streaming lists, a restarted controller begins with what the
// watch cache of one apiserver has, which may lag behind the one that serves the Jobs: it counts a Pod twice, and the Job completes too early.
func TestRestartedJobCountsTwice(t *testing.T) {
	wantFound(t, simtest.Options{
		Nodes: 3, Seeds: 300, WatchList: simtest.Off, CrashProbability: 1.0 / 64, MaxCrashes: 10, Replicas: 3,
	}, testJobs, countedOnce)
}

func testJobs(env *simtest.Env) {
	jobs := []*batchv1.Job{newJob("any", batchv1.NonIndexedCompletion), newJob("each", batchv1.IndexedCompletion)}
	env.Create(jobs[0], jobs[1])
	counts := newCounts(env)
	env.Always(neverBack, func() error { return counts.observe(jobs) })
	start(env, "job", wild.Jobs)
	for range 12 {
		disturbJob(env, jobs[env.Rand().IntN(2)])
		pause(env, 20*time.Second)
	}
	env.StopFaults()
	for _, j := range jobs {
		env.Mutate(j, func() { j.Spec.Parallelism, j.Spec.Suspend = ptr.To[int32](2), ptr.To(false) })
		wake(env, j)
		env.Eventually(completes, 3*time.Hour, func() error { return completed(env, j) })
		env.Eventually(countedOnce, time.Second, func() error { return counts.agree(j) })
	}
}

// disturbJob changes a Job's parallelism, suspends or resumes it, or deletes a Pod of it.
func disturbJob(env *simtest.Env, j *batchv1.Job) {
	pods, err := podsOf(env, j.UID)
	n := env.Rand().IntN(6)
	switch {
	case n < 2:
		env.Mutate(j, func() { j.Spec.Parallelism = ptr.To(env.Rand().Int32N(4)) })
	case n == 2:
		env.Mutate(j, func() { j.Spec.Suspend = ptr.To(!ptr.Deref(j.Spec.Suspend, false)) })
	case n < 5 && err == nil && len(pods) > 0:
		remove(env, &pods[env.Rand().IntN(len(pods))])
	}
}

// counts holds what Jobs should count.
type counts struct {
	observer
	succeeded map[types.UID]map[types.UID]bool // of each Job: the Pods that have, with its finalizer
	status    map[types.UID]batchv1.JobStatus
}

func newCounts(env *simtest.Env) *counts {
	return &counts{observer{env: env}, map[types.UID]map[types.UID]bool{}, map[types.UID]batchv1.JobStatus{}}
}

func tracked(p *corev1.Pod) bool { return slices.Contains(p.Finalizers, batchv1.JobTrackingFinalizer) }

// observe notes which Pods have succeeded, and compares each Job's counts with the last ones.
func (c *counts) observe(jobs []*batchv1.Job) error {
	err := c.each(func(_, now *corev1.Pod) error {
		if now == nil || now.Status.Phase != corev1.PodSucceeded || !tracked(now) {
			return nil
		}
		if owner := metav1.GetControllerOf(now); owner != nil {
			if c.succeeded[owner.UID] == nil {
				c.succeeded[owner.UID] = map[types.UID]bool{}
			}
			c.succeeded[owner.UID][now.UID] = true
		}
		return nil
	})
	if err != nil {
		return err
	}
	for _, j := range jobs {
		live := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: j.Namespace, Name: j.Name}}
		if err := c.env.Get(live); err != nil {
			return err
		}
		before, now := c.status[live.UID], live.Status
		if now.Succeeded < before.Succeeded || now.Failed < before.Failed || !keeps(before.CompletedIndexes, now.CompletedIndexes) {
			return fmt.Errorf("the Job %s had counted %d succeeded Pods, %d failed ones and the indexes %q; now %d, %d and %q", j.Name,
				before.Succeeded, before.Failed, before.CompletedIndexes, now.Succeeded, now.Failed, now.CompletedIndexes)
		}
		c.status[live.UID] = now
	}
	return nil
}

// keeps reports whether every index of the one list, such as "0,2-4", is in the other.
func keeps(before, now string) bool {
	has := indexes(now)
	return !slices.ContainsFunc(indexes(before), func(n int) bool { return !slices.Contains(has, n) })
}

func indexes(list string) (all []int) {
	for _, part := range strings.FieldsFunc(list, func(r rune) bool { return r == ',' }) {
		first, last, isRange := strings.Cut(part, "-")
		from, _ := strconv.Atoi(first)
		to := from
		if isRange {
			to, _ = strconv.Atoi(last)
		}
		for n := from; n <= to; n++ {
			all = append(all, n)
		}
	}
	return all
}

// completed fails unless a Job is complete, and its Pods are free to go.
func completed(env *simtest.Env, j *batchv1.Job) error {
	if err := env.Get(j); err != nil {
		return err
	}
	done := slices.ContainsFunc(j.Status.Conditions, func(c batchv1.JobCondition) bool {
		return c.Type == batchv1.JobComplete && c.Status == corev1.ConditionTrue
	})
	if u := j.Status.UncountedTerminatedPods; !done || j.Status.Active != 0 || u != nil && len(u.Failed)+len(u.Succeeded) > 0 {
		return fmt.Errorf("the Job %s has the status %+v", j.Name, j.Status)
	}
	pods, err := podsOf(env, j.UID)
	if err != nil {
		return err
	}
	for i := range pods {
		if tracked(&pods[i]) {
			return fmt.Errorf("the Pod %s of the complete Job %s still has its finalizer", pods[i].Name, j.Name)
		}
	}
	return nil
}

// agree fails unless a complete Job has counted the Pods that succeeded; an indexed one counts an index once, however many Pods it had.
func (c *counts) agree(j *batchv1.Job) error {
	want := int32(len(c.succeeded[j.UID]))
	if *j.Spec.CompletionMode == batchv1.IndexedCompletion {
		want = *j.Spec.Completions
		if j.Status.CompletedIndexes != "0-4" {
			return fmt.Errorf("the Job %s is complete with the indexes %q", j.Name, j.Status.CompletedIndexes)
		}
	}
	if j.Status.Succeeded > want {
		return fmt.Errorf("the Job %s has counted %d Pods that succeeded, and there were %d", j.Name, j.Status.Succeeded, want)
	}
	return nil
}

// A Job's Pods keep their finalizer until they are counted, says the documentation. When the parallelism is lowered, the controller takes the finalizers
// from the Pods that it deletes, without looking whether they still run: its cache may be behind. Here one of them has succeeded, as the API
// already says. It is not counted, and the work is done again.
func TestJobForgetsPodThatSucceeded(t *testing.T) {
	wantFound(t, simtest.Options{Nodes: 1, Stages: []string{"pod"}, Mix: "none", Seeds: 20}, func(env *simtest.Env) {
		j := newJob("once", batchv1.NonIndexedCompletion)
		j.Spec.Completions, j.Spec.Parallelism = ptr.To[int32](1), ptr.To[int32](1)
		env.Create(j)
		start(env, "job", wild.Jobs)
		env.Eventually("the Pod runs", time.Minute, func() error { return inPhase(env, j, corev1.PodRunning) })
		env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "job", Resource: "pods", Duration: time.Minute})
		env.Eventually("the Pod has succeeded", 2*time.Minute, func() error { return inPhase(env, j, corev1.PodSucceeded) })
		env.Mutate(j, func() { j.Spec.Parallelism = ptr.To[int32](0) })
		env.Advance(10 * time.Second)
		env.Mutate(j, func() { j.Spec.Parallelism = ptr.To[int32](1) })
		env.Eventually(countsAll, 10*time.Second, func() error {
			if err := env.Get(j); err != nil {
				return err
			}
			if j.Status.Succeeded != 1 {
				return fmt.Errorf("a Pod has succeeded, and the status is %+v", j.Status)
			}
			return nil
		})
	}, countsAll)
}

// A Job that is suspended loses its startTime since v1.36, though its Pods may not have been deleted yet, and the API refuses the status of a Job that has ended without one. Here a Pod that cannot be
// changed for some seconds succeeds meanwhile: the controller counts it, and tries in vain to say that the Job is complete, until somebody resumes it.
func TestSuspendedJobNeverCompletes(t *testing.T) {
	wantFound(t, simtest.Options{Nodes: 1, Stages: []string{"pod"}, Mix: "none", Seeds: 20}, func(env *simtest.Env) {
		j := newJob("once", batchv1.NonIndexedCompletion)
		j.Spec.Completions, j.Spec.Parallelism = ptr.To[int32](1), ptr.To[int32](1)
		env.Create(j)
		start(env, "job", wild.Jobs)
		env.Eventually("the Pod runs", time.Minute, func() error { return inPhase(env, j, corev1.PodRunning) })
		env.Inject(fault.Fault{Kind: fault.Write500, Target: "job", Verb: "patch", Resource: "pods", Count: fault.Lasting, Until: 30 * time.Second})
		env.Mutate(j, func() { j.Spec.Suspend = ptr.To(true) })
		env.Eventually("the Pod has succeeded", 2*time.Minute, func() error { return inPhase(env, j, corev1.PodSucceeded) })
		env.Eventually(completes, 30*time.Minute, func() error { return completed(env, j) })
	}, completes)
}

// inPhase fails unless a Job has one Pod, in that phase.
func inPhase(env *simtest.Env, j *batchv1.Job, phase corev1.PodPhase) error {
	pods, err := podsOf(env, j.UID)
	if err == nil && (len(pods) != 1 || pods[0].Status.Phase != phase) {
		return fmt.Errorf("there are %d Pods, none of them %s", len(pods), phase)
	}
	return err
}
