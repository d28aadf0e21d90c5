package argorollouts_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/argoproj/argo-rollouts/pkg/apis/rollouts/v1alpha1"
	rolloutscheme "github.com/argoproj/argo-rollouts/pkg/client/clientset/versioned/scheme"
	"github.com/sirupsen/logrus"
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	argorollouts "github.com/informersim/informersim/wild/argo-rollouts"
)

const (
	asWanted   = "each Rollout has as many Pods as it asks for, all of its newest template, and its Services select them"
	noneIsLeft = "ten minutes after an update, no Pod is left of what was before it"
	isDone     = "an update to a version that works is done"
	selectsOne = "the Service of a Rollout selects the Pods of one version"
	// changesEnv is set in the process that a changed cache is to end.
	changesEnv = "ARGO_ROLLOUTS_CHANGES_CACHE"
)

func init() { logrus.SetOutput(io.Discard) }

// In the end each Rollout, by steps or blue and green, has as many Pods as it asks for, all of its newest template, whatever comes, goes, is updated and scaled
// (argo-rollouts.readthedocs.io/en/stable/features/specification). What fails while an old ReplicaSet is scaled down is left to the next resync, which is a finding of its own, and so is what a
// failed get has done to a Service.
func TestRollouts(t *testing.T) {
	o := options(t)
	o.Properties = simtest.WellBehaved(simtest.Exception{Property: simtest.NoMistakenAbsence, Object: "services", Why: "TestFailedGetSelectsAllVersions"})
	simtest.Run(t, o, testRollouts)
}

func testRollouts(env *simtest.Env) {
	setUp(env)
	env.Create(steps("a"), blueGreen("b"))
	for n := range 12 {
		env.Advance(time.Duration(env.Rand().IntN(60)) * time.Second)
		change(env, n)
	}
	env.StopFaults()
	env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
}

// Thirty seconds after its successor serves, the old ReplicaSet is to be scaled down. If that fails, the error is dropped (reconcileOtherReplicaSets), and its Pods run on
// until the next resync, as many as serve.
func TestFailedScaleDownIsNotTriedAgain(t *testing.T) {
	found := find(t, func(env *simtest.Env) {
		setUp(env)
		r := blueGreen("b")
		env.Create(r)
		env.Eventually(asWanted, 10*time.Minute, func() error { return agree(env) })
		env.Mutate(r, func() { setImage(r, 1) })
		env.Eventually(asWanted, 10*time.Minute, func() error { return serves(env, r) })
		env.Inject(fault.Fault{Kind: fault.Write500, Target: "rollouts", Verb: "update", Resource: "replicasets"})
		env.Eventually(noneIsLeft, 10*time.Minute, func() error { return agree(env) })
	})
	hasFound(t, found, noneIsLeft, "has 6 Pods")
}

// An Experiment whose ReplicaSet could not be created, once, has failed, and so has the Rollout's update, although nothing is wrong with either.
func TestFailedCreateEndsUpdate(t *testing.T) {
	found := find(t, func(env *simtest.Env) {
		setUp(env)
		r := steps("a")
		r.Spec.Strategy.Canary.Steps = []v1alpha1.CanaryStep{{Experiment: &v1alpha1.RolloutExperimentStep{
			Duration: "15s", Templates: []v1alpha1.RolloutExperimentTemplate{{Name: "new", SpecRef: "canary"}},
		}}}
		env.Create(r)
		env.Eventually(asWanted, 10*time.Minute, func() error { return agree(env) })
		env.Inject(fault.Fault{
			Kind: fault.Write500, Target: "rollouts", Verb: "create", Resource: "replicasets",
			After: &fault.Trigger{Event: fault.TriggerCommit, Resource: "experiments"},
		})
		env.Mutate(r, func() { setImage(r, 1) })
		env.Eventually(isDone, 20*time.Minute, func() error { return agree(env) })
	})
	hasFound(t, found, isDone, "Failed to create ReplicaSet for template 'new'")
}

// A get that fails is taken for the answer that the Service's Rollout is gone, so that the Service selects the Pods of all versions (syncService), here once it
// was switched to the new ones, while the old ones still run.
func TestFailedGetSelectsAllVersions(t *testing.T) {
	found := find(t, func(env *simtest.Env) {
		setUp(env)
		r := blueGreen("b")
		env.Create(r)
		env.Eventually(asWanted, 10*time.Minute, func() error { return agree(env) })
		env.Advance(time.Minute)
		env.Inject(fault.Fault{Kind: fault.List500, Target: "rollouts", Verb: "get", Resource: "rollouts"})
		env.Always(selectsOne, func() error {
			s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b-active"}}
			if err := env.Get(s); err != nil {
				return err
			}
			if s.Spec.Selector[v1alpha1.DefaultRolloutUniqueLabelKey] == "" {
				return fmt.Errorf("it selects %v", s.Spec.Selector)
			}
			return nil
		})
		env.Mutate(r, func() { setImage(r, 1) })
		env.Advance(20 * time.Minute)
	})
	hasFound(t, found, selectsOne, "it selects map[app:b]")
}

// The controller notes in the Service of its informer's cache, in place of a copy, which Pods it has just had it select (switchServiceSelector).
func TestCacheIsChanged(t *testing.T) {
	if os.Getenv(changesEnv) != "" {
		o := options(t)
		o.Seeds, o.MutationDetector = 4, simtest.On
		simtest.Run(t, o, testRollouts)
		return
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", "^"+t.Name()+"$", "-simtest.traces="+t.TempDir())
	cmd.Env = append(os.Environ(), changesEnv+"=1")
	out, err := cmd.CombinedOutput()
	if found := "panic: cache *v1.Service modified"; err == nil || !strings.Contains(string(out), found) {
		t.Fatalf("no %q, with %v: has the controller been mended?\n%s", found, err, out)
	}
	m := regexp.MustCompile(`simtest: the process died during a run: \S+, seed (\d+)`).FindSubmatch(out)
	if m == nil {
		t.Fatalf("it does not say in which run:\n%s", out)
	}
	t.Logf("found with seed %s: the controller changes its informer's cache", m[1])
}

func find(t *testing.T, body func(env *simtest.Env)) *simtest.Finding {
	t.Helper()
	o := options(t)
	o.Mix = "none"
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

// options have the CustomResourceDefinitions that the project releases, and ReplicaSets that get on by themselves. The controllers have an event broadcaster that nobody
// ends, and change a cache (docs/findings.md).
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/argoproj/argo-rollouts").Output()
	if err != nil {
		t.Fatal(err)
	}
	o := simtest.Options{Scheme: rolloutscheme.Scheme, Stages: []string{"workload"}, GarbageCollection: true, AllowLeaks: true, MutationDetector: simtest.Off}
	for _, name := range []string{"rollout", "experiment", "analysis-run", "analysis-template", "cluster-analysis-template"} {
		o.CRDs = append(o.CRDs, filepath.Join(strings.TrimSpace(string(dir)), "manifests", "crds", name+"-crd.yaml"))
	}
	return o
}

func setUp(env *simtest.Env) {
	for _, name := range []string{"a-stable", "a-canary", "b-active"} {
		env.Create(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: corev1.ServiceSpec{
			Selector: map[string]string{"app": name[:1]}, Ports: []corev1.ServicePort{{Port: 80}},
		}})
	}
	env.Go("rollouts", func(ctx context.Context) error { return argorollouts.Run(ctx, env.RESTConfig("rollouts")) })
}

func newRollout(name string, strategy v1alpha1.RolloutStrategy) *v1alpha1.Rollout {
	labels := map[string]string{"app": name}
	r := &v1alpha1.Rollout{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: v1alpha1.RolloutSpec{
		Replicas: ptr.To[int32](3), Selector: &metav1.LabelSelector{MatchLabels: labels}, Strategy: strategy,
		Template: corev1.PodTemplateSpec{ObjectMeta: metav1.ObjectMeta{Labels: labels}, Spec: corev1.PodSpec{Containers: []corev1.Container{{Name: "c"}}}},
	}}
	setImage(r, 0)
	return r
}

func setImage(r *v1alpha1.Rollout, n int) {
	r.Spec.Template.Spec.Containers[0].Image = fmt.Sprintf("image:%d", n)
}

// steps has a third of its Pods updated, and the others after a pause.
func steps(name string) *v1alpha1.Rollout {
	return newRollout(name, v1alpha1.RolloutStrategy{Canary: &v1alpha1.CanaryStrategy{
		StableService: name + "-stable", CanaryService: name + "-canary", MaxSurge: ptr.To(intstr.FromInt32(1)), MaxUnavailable: ptr.To(intstr.FromInt32(0)),
		Steps: []v1alpha1.CanaryStep{{SetWeight: ptr.To[int32](34)}, {Pause: &v1alpha1.RolloutPause{Duration: ptr.To(intstr.FromInt32(20))}}},
	}})
}

// blueGreen has all of its Pods beside those of before until these no longer serve.
func blueGreen(name string) *v1alpha1.Rollout {
	return newRollout(name, v1alpha1.RolloutStrategy{BlueGreen: &v1alpha1.BlueGreenStrategy{ActiveService: name + "-active"}})
}

// change creates, deletes, updates or scales a Rollout.
func change(env *simtest.Env, n int) {
	r := steps("a")
	if env.Rand().IntN(2) == 0 {
		r = blueGreen("b")
	}
	if env.Get(r) != nil {
		env.Create(r)
		return
	}
	switch env.Rand().IntN(6) {
	case 0:
		env.Delete(r)
	case 1, 2:
		env.Mutate(r, func() { setImage(r, n) })
	case 3:
		env.Mutate(r, func() { setImage(r, 0) })
	default:
		env.Mutate(r, func() { r.Spec.Replicas = ptr.To(env.Rand().Int32N(5)) })
	}
}

// serves says whether a Rollout's Service selects the Pods of its newest template.
func serves(env *simtest.Env, r *v1alpha1.Rollout) error {
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "b-active"}}
	if err := errors.Join(env.Get(r), env.Get(s)); err != nil {
		return err
	}
	if selected := s.Spec.Selector[v1alpha1.DefaultRolloutUniqueLabelKey]; selected != r.Status.CurrentPodHash || r.Status.ObservedGeneration != fmt.Sprint(r.Generation) {
		return fmt.Errorf("the Service selects %s, and the Rollout has %s", selected, r.Status.CurrentPodHash)
	}
	return nil
}

func agree(env *simtest.Env) error {
	var rollouts v1alpha1.RolloutList
	var sets appsv1.ReplicaSetList
	if err := errors.Join(env.List(&rollouts, ""), env.List(&sets, "")); err != nil {
		return err
	}
	for _, r := range rollouts.Items {
		all, newest := int32(0), int32(0)
		for _, s := range sets.Items {
			if !metav1.IsControlledBy(&s, &r) {
				continue
			}
			all += *s.Spec.Replicas
			if s.Spec.Template.Spec.Containers[0].Image == r.Spec.Template.Spec.Containers[0].Image {
				newest += *s.Spec.Replicas
			}
		}
		if want := *r.Spec.Replicas; all != want || newest != want || r.Status.AvailableReplicas != want || r.Status.Phase != v1alpha1.RolloutPhaseHealthy {
			return fmt.Errorf("the Rollout %s asks for %d, has %d Pods, of the newest template %d, and says that %d are available: %s %s",
				r.Name, want, all, newest, r.Status.AvailableReplicas, r.Status.Phase, r.Status.Message)
		}
	}
	return nil
}
