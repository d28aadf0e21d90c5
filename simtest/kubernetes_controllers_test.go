package simtest_test

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// template is that of a Pod with one container.
func template(app, image string) corev1.PodTemplateSpec {
	return corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Labels: map[string]string{"app": app}},
		Spec:       corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: image}}},
	}
}

func deploymentOf(replicas int32) *appsv1.Deployment {
	return &appsv1.Deployment{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.DeploymentSpec{
			Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": "web"}}, Template: template("web", "a:1"),
		},
	}
}

// runsImage says what a Deployment still waits for.
func runsImage(env *simtest.Env, replicas int32, image string) error {
	d := &appsv1.Deployment{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}}
	if err := env.Get(d); err != nil {
		return err
	}
	if s := d.Status; s.ObservedGeneration != d.Generation || s.UpdatedReplicas != replicas || s.AvailableReplicas != replicas || s.Replicas != replicas {
		return fmt.Errorf("its status is %+v", s)
	}
	var pods corev1.PodList
	env.List(&pods, "default")
	ready := 0
	for _, p := range pods.Items {
		if p.DeletionTimestamp == nil && p.Spec.Containers[0].Image == image && p.Status.Phase == corev1.PodRunning {
			ready++
		}
	}
	if ready != int(replicas) {
		return fmt.Errorf("%d Pods of %s run", ready, image)
	}
	return nil
}

// needsControllers skips a test with -short, as in a clone's `go test ./...`: the program with Kubernetes' controllers is compiled with a Go runtime of its own, and so with all that it imports once more.
func needsControllers(t *testing.T) {
	t.Helper()
	if testing.Short() {
		t.Skip("-short: informersim-controllers may have to be compiled, which takes minutes")
	}
}

// Kubernetes' own controllers make Pods of a Deployment, which run on the nodes, roll a change out, and scale.
func TestDeploymentRollsOut(t *testing.T) {
	needsControllers(t)
	o := simtest.Options{Seeds: 8, Nodes: 2, Controllers: []string{"deployment", "replicaset", "garbage-collector"}, Verify: true}
	simtest.Run(t, o, func(env *simtest.Env) {
		env.Create(deploymentOf(3))
		env.Eventually("Pods are made", time.Hour, func() error {
			var pods corev1.PodList
			if env.List(&pods, "default"); len(pods.Items) < 3 {
				return fmt.Errorf("%d Pods", len(pods.Items))
			}
			return nil
		})
		d := deploymentOf(3)
		env.Mutate(d, func() { d.Spec.Template = template("web", "a:2") })
		env.StopFaults()
		env.Eventually("the change is rolled out", time.Hour, func() error { return runsImage(env, 3, "a:2") })
		env.Mutate(d, func() { *d.Spec.Replicas = 1 })
		env.Eventually("one Pod is left", time.Hour, func() error { return runsImage(env, 1, "a:2") })
		env.Delete(d)
		env.Eventually("nothing is left", time.Hour, func() error {
			var sets appsv1.ReplicaSetList
			var pods corev1.PodList
			env.List(&sets, "default")
			env.List(&pods, "default")
			if len(sets.Items)+len(pods.Items) > 0 {
				return fmt.Errorf("%d ReplicaSets, %d Pods", len(sets.Items), len(pods.Items))
			}
			return nil
		})
	})
}

// A CronJob makes a Job each minute of virtual time, whose Pod completes, and keeps three of them.
func TestCronJobRuns(t *testing.T) {
	needsControllers(t)
	o := simtest.Options{Seeds: 4, Nodes: 1, Controllers: []string{"cronjob", "job", "garbage-collector"}, Mix: "none"}
	simtest.Run(t, o, func(env *simtest.Env) {
		spec := template("tick", "a:1")
		spec.Spec.RestartPolicy = corev1.RestartPolicyNever
		env.Create(&batchv1.CronJob{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "tick"},
			Spec:       batchv1.CronJobSpec{Schedule: "* * * * *", JobTemplate: batchv1.JobTemplateSpec{Spec: batchv1.JobSpec{Template: spec}}},
		})
		env.Eventually("as many Jobs as are kept are complete", time.Hour, func() error {
			var jobs batchv1.JobList
			env.List(&jobs, "default")
			done := 0
			for _, j := range jobs.Items {
				if j.Status.Succeeded == 1 && j.Status.CompletionTime != nil {
					done++
				}
			}
			if done != 3 { // successfulJobsHistoryLimit
				return fmt.Errorf("%d of %d", done, len(jobs.Items))
			}
			return nil
		})
	})
}

// A fault that is aimed at a controller's client strikes, although none is picked for it.
func TestFaultAtController(t *testing.T) {
	needsControllers(t)
	simtest.Run(t, simtest.Options{Seeds: 2, Mix: "none", Controllers: []string{"deployment", "replicaset"}}, func(env *simtest.Env) {
		env.Inject(fault.Fault{Kind: fault.Write500, Target: "kube-controller-manager/replicaset-controller", Count: 2})
		env.Create(deploymentOf(1))
		env.Eventually("there is a Pod all the same", time.Hour, func() error {
			var pods corev1.PodList
			if env.List(&pods, "default"); len(pods.Items) != 1 {
				return fmt.Errorf("%d Pods", len(pods.Items))
			}
			return nil
		})
		if struck := env.Cluster().Faults(); struck != 2 {
			t.Errorf("%d faults have struck", struck)
		}
	})
}

// The set of stages that stands in for a controller is refused beside it, and what is no controller at all.
func TestKubernetesControllersRefused(t *testing.T) {
	for want, o := range map[string]simtest.Options{
		`Options.Stages: the set "workload" stands in for controllers that run here, too: deployment, job`: {Stages: []string{"workload"}, Controllers: []string{"job", "deployment", "cronjob"}},
		`there is no controller "deployments"`: {Controllers: []string{"deployments"}},
	} {
		wantIn(t, failure(t, o, func(*simtest.Env) { t.Errorf("%s: it runs", want) }), want)
	}
}

// Where the process with the controllers cannot be had, or ends in the middle of a run, a sentence says so. What it said is on the test's stderr.
func TestControllersProcessEnds(t *testing.T) {
	o := simtest.Options{Seeds: 1, Controllers: []string{"deployment"}}
	if isChild() {
		simtest.Run(t, o, func(env *simtest.Env) { env.Advance(time.Minute) })
		return
	}
	if runtime.GOOS == "windows" {
		t.Skip("it needs a shell")
	}
	dir := t.TempDir()
	version := `[ "$1" = version ] && { echo informersim-controllers devel; echo protocol ` + programProtocol(t) + `; echo; echo "with the overlay of Go's runtime"; exit; }`
	for script, want := range map[string][]string{
		version + "; echo a last word >&2; exit 3":                                          {"a last word", "Kubernetes' controllers (Options.Controllers) have ended in the middle of the run: what their process had to say is above"},
		version + "; head -c 10 >/dev/null; printf '\\001\\000\\000\\000R'; cat >/dev/null": {"the process of Kubernetes' controllers sends what it must not"},
		"echo hello": {"Options.Controllers: INFORMERSIM_CONTROLLER_MANAGER: ", `"hello" is not a version of informersim-controllers`},
	} {
		program := filepath.Join(dir, "informersim-controllers")
		if err := os.WriteFile(program, []byte("#!/bin/sh\n"+script+"\n"), 0o755); err != nil {
			t.Fatal(err)
		}
		out := runChildWith(t, asChild(t, "INFORMERSIM_CONTROLLER_MANAGER="+program))
		for _, w := range want {
			wantIn(t, out, w)
		}
	}
}

// programProtocol is the number that the engine's program and its companions print.
func programProtocol(t *testing.T) string {
	t.Helper()
	path := os.Getenv("INFORMERSIM")
	if path == "" {
		var err error
		if path, err = simtest.EnginePath(); err != nil {
			t.Fatal(err)
		}
	}
	out, err := exec.Command(path, "version").Output()
	_, after, found := strings.Cut(string(out), "\nprotocol ")
	if err != nil || !found {
		t.Fatalf("%s version prints %q, %v", path, out, err)
	}
	number, _, _ := strings.Cut(after, "\n")
	return number
}

// A whole run in which Kubernetes' controllers create a Deployment's Pods and roll a change out.
func BenchmarkRollout(b *testing.B) {
	o := simtest.Options{Seeds: b.N, Nodes: 2, Controllers: []string{"deployment", "replicaset", "garbage-collector"}}
	simtest.Run(b, o, func(env *simtest.Env) {
		d := deploymentOf(3)
		env.Create(d)
		env.StopFaults()
		env.Eventually("three Pods run", time.Hour, func() error { return runsImage(env, 3, "a:1") })
		env.Mutate(d, func() { d.Spec.Template = template("web", "a:2") })
		env.Eventually("the change is rolled out", time.Hour, func() error { return runsImage(env, 3, "a:2") })
	})
}
