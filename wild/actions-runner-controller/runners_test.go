package actionsrunnercontroller_test

import (
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

	"github.com/actions/actions-runner-controller/apis/actions.github.com/v1alpha1"
	"github.com/actions/actions-runner-controller/github/actions"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	actionsrunnercontroller "github.com/informersim/informersim/wild/actions-runner-controller"
)

const (
	asWanted     = "each EphemeralRunnerSet has as many runners as it asks for, and no other runner is there"
	isGone       = "an EphemeralRunner that is deleted goes"
	isRegistered = "each EphemeralRunner is registered at GitHub"
	never        = 1000 * time.Hour // no resync
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(simtest.Logger())
	os.Exit(m.Run())
}

// In the end each EphemeralRunnerSet has as many EphemeralRunners as it asks for, each with its Pod, unless it has failed too often, and nothing else is left, whatever is scaled, and whichever Pods are deleted
// (docs.github.com/actions/hosting-your-own-runners). An EphemeralRunner that is deleted while it is new may stay for ever, so no set is deleted, and which runners GitHub has is a finding of its own.
func TestRunners(t *testing.T) {
	o := options(t)
	const known = "TestDeletedWhileNewNeverGoes"
	o.Properties = simtest.WellBehaved(
		simtest.Exception{Property: simtest.NoFinalizerLeft, Object: "ephemeralrunners", Why: known}, simtest.Exception{Property: simtest.NoFinalizerLeft, Object: "ephemeralrunnersets", Why: known})
	simtest.Run(t, o, func(env *simtest.Env) {
		setUp(env)
		for n := range 12 {
			change(env, n)
			env.Advance(time.Duration(env.Rand().IntN(40)) * time.Second)
		}
		env.StopFaults()
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	})
}

// An EphemeralRunner gets its two finalizers by two writes, and its deletion is looked after only while it has the second one (Reconcile). If it is deleted before it has that, the first one is never removed, and neither it nor its set ever goes.
func TestDeletedWhileNewNeverGoes(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		deletedWhileNew(env)
		env.StopFaults()
		env.Eventually(isGone, time.Hour, func() error {
			for _, r := range runners(env) {
				if r.DeletionTimestamp != nil {
					return fmt.Errorf("it is being deleted since %v, and has the finalizers %v", r.DeletionTimestamp, r.Finalizers)
				}
			}
			return nil
		})
	})
	hasFound(t, found, isGone, "runner-registration-finalizer]")
}

// Without a word of what is to hold, the same is found by the finalizer.
func TestDeletedWhileNewKeepsFinalizer(t *testing.T) {
	found := find(t, simtest.WellBehaved(), deletedWhileNew)
	hasFound(t, found, simtest.NoFinalizerLeft, "ephemeralrunners default/s-runner-")
}

// A runner that is too many is removed from GitHub first, and then deleted (deleteEphemeralRunnerWithActionsClient). If the delete fails, and the set is scaled up again meanwhile, it counts as one of the set's, and its Pod runs on, though it is registered no more and gets no job.
func TestFailedDeleteKeepsUnregisteredRunner(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		g := setUp(env)
		s := newSet("s", 1)
		env.Create(s)
		env.Advance(time.Minute)
		env.Inject(fault.Fault{Kind: fault.Write500, Target: "arc", Verb: "delete", Resource: "ephemeralrunners", Count: fault.Lasting, Until: 2 * time.Minute})
		env.Mutate(s, func() { s.Spec.Replicas = 0 })
		env.Advance(10 * time.Second)
		env.Mutate(s, func() { s.Spec.Replicas = 1 })
		env.Advance(2 * time.Minute)
		env.StopFaults()
		env.Eventually(isRegistered, time.Hour, func() error {
			for _, r := range runners(env) {
				if g.runners[r.Status.RunnerId] == nil {
					return fmt.Errorf("its phase is %q, and nothing is registered with its ID", r.Status.Phase)
				}
			}
			return nil
		})
	})
	hasFound(t, found, isRegistered, "nothing is registered with its ID")
}

const registrationFinalizer = "ephemeralrunner.actions.github.com/runner-registration-finalizer"

// deletedWhileNew deletes an EphemeralRunner that has the first of its finalizers only.
func deletedWhileNew(env *simtest.Env) {
	setUp(env)
	env.Inject(fault.Fault{
		Kind: fault.Write500, Target: "arc", Verb: "patch", Resource: "ephemeralrunners", Count: fault.Lasting, Until: 10 * time.Second,
		After: &fault.Trigger{Event: fault.TriggerCommit, Client: "arc", Resource: "ephemeralrunners", Count: 2},
	})
	env.Create(newSet("s", 1))
	env.Advance(time.Second)
	for _, r := range runners(env) {
		env.Delete(&r)
	}
	env.Advance(time.Minute)
}

func runners(env *simtest.Env) []v1alpha1.EphemeralRunner {
	var all v1alpha1.EphemeralRunnerList
	if err := env.List(&all, ""); err != nil {
		return nil
	}
	return all.Items
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

// github is the service: which runners are registered, by their IDs. It refuses calls of a process that has ended.
type github struct {
	actions.ActionsService // what the controllers do not call
	env                    *simtest.Env
	last                   int
	runners                map[int]*actions.RunnerReference
}

func (g *github) GetClientFor(context.Context, string, actions.ActionsAuth, string, ...actions.ClientOption) (actions.ActionsService, error) {
	return g, nil
}

func (g *github) GetClientFromSecret(context.Context, string, string, actions.KubernetesSecretData, ...actions.ClientOption) (actions.ActionsService, error) {
	return g, nil
}

func (g *github) GenerateJitRunnerConfig(ctx context.Context, s *actions.RunnerScaleSetJitRunnerSetting, scaleSet int) (*actions.RunnerScaleSetJitRunnerConfig, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if r, _ := g.GetRunnerByName(ctx, s.Name); r != nil {
		return nil, &actions.ActionsError{StatusCode: http.StatusConflict, ExceptionName: "AgentExistsException", Message: s.Name + " is registered"}
	}
	g.last++
	g.runners[g.last] = &actions.RunnerReference{Id: g.last, Name: s.Name, RunnerScaleSetId: scaleSet}
	return &actions.RunnerScaleSetJitRunnerConfig{Runner: g.runners[g.last], EncodedJITConfig: fmt.Sprint("config of ", g.last)}, nil
}

func (g *github) GetRunner(ctx context.Context, id int64) (*actions.RunnerReference, error) {
	if r := g.runners[int(id)]; r != nil || ctx.Err() != nil {
		return r, ctx.Err()
	}
	return nil, &actions.ActionsError{StatusCode: http.StatusNotFound, ExceptionName: "AgentNotFoundException", Message: "no such runner"}
}

func (g *github) GetRunnerByName(ctx context.Context, name string) (*actions.RunnerReference, error) {
	for id := 1; id <= g.last; id++ {
		if r := g.runners[id]; r != nil && r.Name == name {
			return r, ctx.Err()
		}
	}
	return nil, ctx.Err()
}

func (g *github) RemoveRunner(ctx context.Context, id int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	delete(g.runners, int(id))
	return nil
}

// options have the CustomResourceDefinitions that the project releases.
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/actions/actions-runner-controller").Output()
	if err != nil {
		t.Fatal(err)
	}
	crds := filepath.Join(strings.TrimSpace(string(dir)), "config", "crd", "bases")
	return simtest.Options{
		Scheme: actionsrunnercontroller.NewScheme(), Nodes: 2, GarbageCollection: true, AllowLeaks: true,
		CRDs: []string{filepath.Join(crds, "actions.github.com_ephemeralrunners.yaml"), filepath.Join(crds, "actions.github.com_ephemeralrunnersets.yaml")},
	}
}

func setUp(env *simtest.Env) *github {
	g := &github{env: env, runners: map[int]*actions.RunnerReference{}}
	env.Create(&corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "github"}, StringData: map[string]string{"github_token": "token"}})
	env.Go("arc", func(ctx context.Context) error {
		return actionsrunnercontroller.Run(ctx, env.RESTConfig("arc"), g, never)
	})
	return g
}

// newSet has runners that wait for a job for ever.
func newSet(name string, replicas int) *v1alpha1.EphemeralRunnerSet {
	s := &v1alpha1.EphemeralRunnerSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	s.Spec.Replicas = replicas
	s.Spec.EphemeralRunnerSpec.GitHubConfigUrl, s.Spec.EphemeralRunnerSpec.GitHubConfigSecret, s.Spec.EphemeralRunnerSpec.RunnerScaleSetId = "https://github.com/owner/repo", "github", 1
	s.Spec.EphemeralRunnerSpec.PodTemplateSpec = corev1.PodTemplateSpec{
		ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{"pod-complete.stage.kwok.x-k8s.io/delay": "1000h", "pod-complete.stage.kwok.x-k8s.io/jitter-delay": "1000h"}},
		Spec:       corev1.PodSpec{RestartPolicy: corev1.RestartPolicyNever, Containers: []corev1.Container{{Name: "runner", Image: "runner"}}},
	}
	return s
}

// change creates or scales an EphemeralRunnerSet, or deletes a Pod.
func change(env *simtest.Env, n int) {
	var sets v1alpha1.EphemeralRunnerSetList
	var pods corev1.PodList
	if errors.Join(env.List(&sets, ""), env.List(&pods, "")) != nil {
		return
	}
	if len(sets.Items) < 2 {
		env.Create(newSet(fmt.Sprintf("s%d", n), env.Rand().IntN(4)))
		return
	}
	s := &sets.Items[env.Rand().IntN(len(sets.Items))]
	if len(pods.Items) > 0 && env.Rand().IntN(4) == 0 {
		env.Delete(&pods.Items[env.Rand().IntN(len(pods.Items))])
		return
	}
	env.Mutate(s, func() { s.Spec.Replicas = env.Rand().IntN(5) })
}

func agree(env *simtest.Env) error {
	var sets v1alpha1.EphemeralRunnerSetList
	var runners v1alpha1.EphemeralRunnerList
	var pods corev1.PodList
	if err := errors.Join(env.List(&sets, ""), env.List(&runners, ""), env.List(&pods, "")); err != nil {
		return err
	}
	have, stuck := map[string]int{}, map[string]bool{}
	live := 0
	for _, r := range runners.Items {
		if r.DeletionTimestamp != nil && slices.Equal(r.Finalizers, []string{registrationFinalizer}) { // TestDeletedWhileNewNeverGoes
			stuck[metav1.GetControllerOf(&r).Name] = true
			continue
		}
		if r.DeletionTimestamp != nil {
			return fmt.Errorf("%s is being deleted since %v, and has the finalizers %v", r.Name, r.DeletionTimestamp, r.Finalizers)
		}
		if o := metav1.GetControllerOf(&r); o != nil {
			have[o.Name]++
		}
		if r.Status.Phase == corev1.PodFailed {
			continue
		}
		live++
	}
	for _, s := range sets.Items {
		if s.DeletionTimestamp != nil && stuck[s.Name] {
			continue
		}
		if s.DeletionTimestamp != nil {
			return fmt.Errorf("%s is being deleted since %v, and has %d runners", s.Name, s.DeletionTimestamp, have[s.Name])
		}
		if have[s.Name] != s.Spec.Replicas || s.Status.CurrentReplicas != s.Spec.Replicas {
			return fmt.Errorf("%s is to have %d runners, has %d, and says %+v", s.Name, s.Spec.Replicas, have[s.Name], s.Status)
		}
	}
	if len(pods.Items) != live {
		return fmt.Errorf("there are %d runners that have not failed, and %d Pods", live, len(pods.Items))
	}
	return nil
}
