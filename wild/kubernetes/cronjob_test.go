package kubernetes_test

import (
	"fmt"
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	wild "github.com/informersim/informersim/wild/kubernetes"
)

const (
	onTime    = "a CronJob creates a Job each minute, and removes old ones"
	oneByOne  = "a CronJob that forbids concurrency has one Job at a time"
	everyTime = "* * * * *"
)

// cronJob runs every minute, never two at a time. Its Jobs are done when somebody says so.
func cronJob() *batchv1.CronJob {
	return &batchv1.CronJob{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"},
		Spec: batchv1.CronJobSpec{
			Schedule: everyTime, ConcurrencyPolicy: batchv1.ForbidConcurrent, SuccessfulJobsHistoryLimit: ptr.To[int32](2), FailedJobsHistoryLimit: ptr.To[int32](1),
			JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: template(nil, corev1.RestartPolicyNever)}},
		},
	}
}

// Whatever happens, in the end there is a Job each minute again, and no more old ones than are to be kept.
func TestCronJob(t *testing.T) {
	simtest.Run(t, simtest.Options{Nodes: 3, GarbageCollection: true, Properties: simtest.WellBehaved()}, func(env *simtest.Env) {
		c := cronJob()
		env.Create(c)
		start(env, "cronjob", wild.CronJobs)
		start(env, "job", wild.Jobs)
		for range 10 {
			switch env.Rand().IntN(4) {
			case 0:
				env.Mutate(c, func() { c.Spec.Suspend = ptr.To(!ptr.Deref(c.Spec.Suspend, false)) })
			case 1:
				if jobs, err := jobsOf(env, c); err == nil && len(jobs) > 0 {
					env.Delete(&jobs[env.Rand().IntN(len(jobs))])
				}
			}
			pause(env, 3*time.Minute)
		}
		env.StopFaults()
		env.Mutate(c, func() { c.Spec.Suspend = ptr.To(false) })
		env.Advance(30 * time.Minute) // longer than any backoff
		for range 5 {
			env.Advance(time.Minute)
			env.Eventually(onTime, 2*time.Minute, func() error { return scheduled(env, c) })
		}
	})
}

// scheduled reports whether the last Job is of the last two minutes, and how many that have ended are still there.
func scheduled(env *simtest.Env, c *batchv1.CronJob) error {
	jobs, err := jobsOf(env, c)
	if err != nil {
		return err
	}
	if err := env.Get(c); err != nil {
		return err
	}
	ended := 0
	for i := range jobs {
		if !isActiveJob(&jobs[i]) {
			ended++
		}
	}
	switch last := c.Status.LastScheduleTime; {
	case last == nil || env.Now().Sub(last.Time) > 2*time.Minute:
		return fmt.Errorf("the last Job was scheduled at %v, and it is %v", last, env.Now())
	case ended > 3:
		return fmt.Errorf("%d Jobs that have ended are there", ended)
	}
	return nil
}

// A controller whose watches stand still for more than a minute does not see that it has created a Job, and creates the next one beside it: it
// decides by what is in its caches, and does not ask how far they are.
func TestStalledWatchMakesJobsOverlap(t *testing.T) {
	wantFound(t, simtest.Options{Seeds: 20, Mix: "none"}, func(env *simtest.Env) {
		c := cronJob()
		env.Create(c)
		start(env, "cronjob", wild.CronJobs)
		env.Advance(time.Second)
		env.Always(oneByOne, func() error {
			jobs, err := jobsOf(env, c)
			active := 0
			for i := range jobs {
				if isActiveJob(&jobs[i]) {
					active++
				}
			}
			if err == nil && active > 1 {
				err = fmt.Errorf("%d Jobs are active at the same time", active)
			}
			return err
		})
		for _, resource := range []string{"cronjobs", "jobs"} {
			env.Inject(fault.Fault{Kind: fault.WatchStall, Target: "cronjob", Resource: resource, Duration: 4 * time.Minute})
		}
		env.Advance(10 * time.Minute)
	}, oneByOne)
}

func jobsOf(env *simtest.Env, c *batchv1.CronJob) (jobs []batchv1.Job, err error) {
	var all batchv1.JobList
	if err := env.List(&all, "default"); err != nil {
		return nil, err
	}
	for _, j := range all.Items {
		if metav1.IsControlledBy(&j, c) {
			jobs = append(jobs, j)
		}
	}
	return jobs, nil
}

// isActiveJob reports whether a Job has neither ended nor been deleted.
func isActiveJob(j *batchv1.Job) bool {
	for _, c := range j.Status.Conditions {
		if (c.Type == batchv1.JobComplete || c.Type == batchv1.JobFailed) && c.Status == corev1.ConditionTrue {
			return false
		}
	}
	return j.DeletionTimestamp == nil
}
