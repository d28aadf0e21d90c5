package agentsandbox_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"sigs.k8s.io/agent-sandbox/api/v1alpha1"
	extensionsv1alpha1 "sigs.k8s.io/agent-sandbox/extensions/api/v1alpha1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	agentsandbox "github.com/informersim/informersim/wild/agent-sandbox"
)

const (
	asWanted   = "each Sandbox and each SandboxWarmPool has what it asks for, and no other Pod is there"
	isReady    = "a SandboxClaim is ready when its Pod is"
	isOwned    = "each Pod belongs to somebody"
	isPaused   = "a Sandbox that is paused is ready"
	hasExpired = "a Sandbox that is past its time has no Pod"
	isNamed    = "a Sandbox says which Service it has"
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(simtest.Logger())
	os.Exit(m.Run())
}

// In the end each Sandbox that runs has its Pod and its Service and says that it is ready, one that is to have no Pod or is past its time has none, and each SandboxWarmPool has as many Pods as it asks for, whatever is created, deleted,
// paused and scaled (agent-sandbox.sigs.k8s.io/docs). What becomes of the Pods that SandboxClaims take over, and which Service a Sandbox names, are findings of their own.
func TestSandboxes(t *testing.T) {
	o := options(t)
	o.Properties = simtest.WellBehaved()
	simtest.Run(t, o, func(env *simtest.Env) {
		setUp(env)
		for n := range 15 {
			change(env, n)
			env.Advance(time.Duration(env.Rand().IntN(30)) * time.Second)
		}
		env.StopFaults()
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	})
}

// A Sandbox is reconciled when a Pod of its own name changes (SetupWithManager); the one that it has taken over from a pool has another. If that is not ready yet, nobody hears when it is (kubernetes-sigs/agent-sandbox#190, mended in v0.1.1).
func TestAdoptedPodIsNotWatched(t *testing.T) {
	found := find(t, nil, notYetReady(func(env *simtest.Env) {
		c := newClaim("c")
		env.Eventually(isReady, time.Hour, func() error {
			pods, err := owned(env, "Sandbox c")
			if err != nil || len(pods) != 1 || !podIsReady(&pods[0]) {
				return err // that is not the controllers'
			}
			if err := env.Get(c); err != nil || !meta.IsStatusConditionTrue(c.Status.Conditions, string(v1alpha1.SandboxConditionReady)) {
				return errors.Join(err, fmt.Errorf("its Pod is ready, and it says %v", c.Status.Conditions))
			}
			return nil
		})
	}))
	hasFound(t, found, isReady, "SandboxNotReady")
}

// Without a word of what is to hold, the same is found by what the controller writes once its informers have listed anew.
func TestAdoptedPodIsForgotten(t *testing.T) {
	found := find(t, simtest.WellBehaved(), notYetReady(func(*simtest.Env) {}))
	hasFound(t, found, simtest.NoForgottenChange, "sandboxes default/c")
}

// A SandboxClaim takes a Pod away from its pool, and creates the Sandbox that is to have it only then (createSandbox). If the create fails, the next try does not find the Pod any more, whose labels and owner are gone: it takes another one, and the first runs on for nobody
// (kubernetes-sigs/agent-sandbox#418 has the same by a cache that lags).
func TestFailedCreateLeavesAdoptedPod(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		setUp(env)
		env.Create(newPool("p", 1))
		env.Advance(time.Minute)
		env.Inject(fault.Fault{Kind: fault.Write500, Target: "sandbox", Verb: "create", Resource: "sandboxes"})
		env.Create(newClaim("c"))
		env.Advance(time.Minute)
		env.StopFaults()
		env.Eventually(isOwned, time.Hour, func() error {
			_, err := owned(env, "")
			return err
		})
	})
	hasFound(t, found, isOwned, "nobody owns the Pod p-")
}

// To pause a Sandbox deletes the Pod that it has taken over, and then removes the annotation that names it (reconcilePod). If that fails until the Pod has gone, each reconcile ends before it, since a Pod that an annotation names must be there: the Sandbox is never ready again, paused or not.
func TestFailedPatchEndsSandbox(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		s := takenOver(env)
		env.Inject(fault.Fault{Kind: fault.Write500, Target: "sandbox", Verb: "patch", Resource: "sandboxes", Count: fault.Lasting, Until: 2*time.Minute + 10*time.Second})
		env.Mutate(s, func() { s.Spec.Replicas = ptr.To[int32](0) })
		env.Advance(time.Minute)
		env.StopFaults()
		env.Eventually(isPaused, time.Hour, func() error {
			if err := env.Get(s); err != nil || !meta.IsStatusConditionTrue(s.Status.Conditions, string(v1alpha1.SandboxConditionReady)) {
				return errors.Join(err, fmt.Errorf("it says %v", s.Status.Conditions))
			}
			return nil
		})
	})
	hasFound(t, found, isPaused, "Pod in Annotation Get Failed")
}

// What is deleted when a Sandbox expires is the Pod of its name (handleSandboxExpiry), not the one that it has taken over.
func TestExpiredSandboxKeepsAdoptedPod(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		s := takenOver(env)
		env.Mutate(s, func() { s.Spec.ShutdownTime = ptr.To(metav1.NewTime(time.Now().Add(time.Minute))) })
		env.Advance(2 * time.Minute)
		env.Eventually(hasExpired, time.Hour, func() error {
			pods, err := owned(env, "Sandbox c")
			if err := errors.Join(err, env.Get(s)); err != nil || len(pods) > 0 {
				return errors.Join(err, fmt.Errorf("it has %d Pods, and says %v", len(pods), s.Status.Conditions))
			}
			return nil
		})
	})
	hasFound(t, found, hasExpired, "SandboxExpired")
}

// The status names the Service only if the same reconcile has made it (reconcileService). If that reconcile's write of the status fails, as when its user changes the Sandbox meanwhile, the next one finds the Service, and names none.
func TestFailedStatusLosesService(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		setUp(env)
		env.Inject(fault.Fault{Kind: fault.Write500, Target: "sandbox", Verb: "update", Resource: "sandboxes"})
		s := newSandbox("s")
		env.Create(s)
		env.Advance(time.Minute)
		env.StopFaults()
		env.Eventually(isNamed, time.Hour, func() error {
			if err := env.Get(s); err != nil || s.Status.Service != "s" {
				return errors.Join(err, fmt.Errorf("it names %q, and says %v", s.Status.Service, s.Status.Conditions))
			}
			return nil
		})
	})
	hasFound(t, found, isNamed, `it names ""`)
}

// notYetReady has a claim take over a Pod that is not ready yet.
func notYetReady(then func(env *simtest.Env)) func(env *simtest.Env) {
	return func(env *simtest.Env) {
		setUp(env)
		env.Create(newPool("p", 1))
		env.Eventually("the pool has a Pod", time.Hour, func() error {
			if pods, err := owned(env, "SandboxWarmPool p"); err != nil || len(pods) < 1 {
				return fmt.Errorf("%d Pods, %v", len(pods), err)
			}
			return nil
		})
		env.Create(newClaim("c"))
		env.Advance(5 * time.Minute)
		env.StopFaults()
		then(env)
	}
}

// takenOver creates a SandboxClaim whose Sandbox, which it returns, has the Pod of a pool.
func takenOver(env *simtest.Env) *v1alpha1.Sandbox {
	setUp(env)
	env.Create(newPool("p", 1))
	env.Advance(time.Minute)
	env.Create(newClaim("c"))
	env.Advance(time.Minute)
	return &v1alpha1.Sandbox{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "c"}}
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

// options have the CustomResourceDefinitions and the roles that the project releases.
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/agent-sandbox").Output()
	if err != nil {
		t.Fatal(err)
	}
	k8s := filepath.Join(strings.TrimSpace(string(dir)), "k8s")
	return simtest.Options{
		Scheme: agentsandbox.NewScheme(), CRDs: []string{filepath.Join(k8s, "crds")}, Roles: []string{k8s},
		Nodes: 2, GarbageCollection: true,
	}
}

// setUp starts the controllers with the roles that they are installed with.
func setUp(env *simtest.Env) {
	template := &extensionsv1alpha1.SandboxTemplate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "template"}}
	template.Spec.PodTemplate.Spec = podSpec()
	env.Create(template)
	env.Go("sandbox", func(ctx context.Context) error {
		cfg := env.RESTConfig("sandbox")
		cfg.Impersonate.UserName = "system:serviceaccount:agent-sandbox-system:agent-sandbox-controller"
		return agentsandbox.Run(ctx, cfg)
	})
}

func podSpec() corev1.PodSpec {
	return corev1.PodSpec{Containers: []corev1.Container{{Name: "c", Image: "image"}}}
}

func newSandbox(name string) *v1alpha1.Sandbox {
	s := &v1alpha1.Sandbox{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	s.Spec.PodTemplate.Spec = podSpec()
	return s
}

func newClaim(name string) *extensionsv1alpha1.SandboxClaim {
	c := &extensionsv1alpha1.SandboxClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	c.Spec.TemplateRef.Name = "template"
	return c
}

func newPool(name string, replicas int32) *extensionsv1alpha1.SandboxWarmPool {
	p := &extensionsv1alpha1.SandboxWarmPool{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	p.Spec.TemplateRef.Name, p.Spec.Replicas = "template", replicas
	return p
}

// change creates, deletes, pauses or scales something, sets the time at which a Sandbox is to end, or has somebody delete a Pod or a Service.
func change(env *simtest.Env, n int) {
	var sandboxes v1alpha1.SandboxList
	var pools extensionsv1alpha1.SandboxWarmPoolList
	if errors.Join(env.List(&sandboxes, ""), env.List(&pools, "")) != nil {
		return
	}
	if len(sandboxes.Items) < 2 {
		env.Create(newSandbox(fmt.Sprintf("s%d", n)))
		return
	}
	if len(pools.Items) < 1 {
		env.Create(newPool(fmt.Sprintf("p%d", n), 1+env.Rand().Int32N(2)))
		return
	}
	s := &sandboxes.Items[env.Rand().IntN(len(sandboxes.Items))]
	switch env.Rand().IntN(8) {
	case 0:
		env.Delete(s)
	case 1, 2:
		env.Mutate(s, func() { s.Spec.Replicas = ptr.To(env.Rand().Int32N(2)) })
	case 3:
		env.Mutate(s, func() { s.Spec.ShutdownTime = ptr.To(metav1.NewTime(time.Now().Add(time.Minute))) })
	case 4, 5:
		env.Mutate(&pools.Items[0], func() { pools.Items[0].Spec.Replicas = env.Rand().Int32N(4) })
	case 6:
		var pods corev1.PodList
		if env.List(&pods, "") == nil && len(pods.Items) > 0 {
			env.Delete(&pods.Items[env.Rand().IntN(len(pods.Items))])
		}
	default:
		var services corev1.ServiceList
		if env.List(&services, "default") == nil && len(services.Items) > 0 {
			env.Delete(&services.Items[env.Rand().IntN(len(services.Items))])
		}
	}
}

// owned returns the Pods of an owner, if each Pod has one.
func owned(env *simtest.Env, owner string) (pods []corev1.Pod, err error) {
	var all corev1.PodList
	if err := env.List(&all, ""); err != nil {
		return nil, err
	}
	for _, p := range all.Items {
		by := metav1.GetControllerOf(&p)
		if by == nil {
			return nil, fmt.Errorf("nobody owns the Pod %s", p.Name)
		}
		if by.Kind+" "+by.Name == owner {
			pods = append(pods, p)
		}
	}
	return pods, nil
}

func podIsReady(p *corev1.Pod) bool {
	return slices.ContainsFunc(p.Status.Conditions, func(c corev1.PodCondition) bool { return c.Type == corev1.PodReady && c.Status == corev1.ConditionTrue })
}

func agree(env *simtest.Env) error {
	var sandboxes v1alpha1.SandboxList
	var pools extensionsv1alpha1.SandboxWarmPoolList
	if err := errors.Join(env.List(&sandboxes, ""), env.List(&pools, "")); err != nil {
		return err
	}
	for _, s := range sandboxes.Items {
		pods, err := owned(env, "Sandbox "+s.Name)
		if err != nil {
			return err
		}
		if err := sandboxAgrees(env, &s, pods); err != nil {
			return err
		}
	}
	for _, p := range pools.Items {
		if pods, err := owned(env, "SandboxWarmPool "+p.Name); err != nil || len(pods) != int(p.Spec.Replicas) || p.Status.Replicas != p.Spec.Replicas {
			return errors.Join(err, fmt.Errorf("the SandboxWarmPool %s is to have %d Pods, has %d, and says %d", p.Name, p.Spec.Replicas, len(pods), p.Status.Replicas))
		}
	}
	return nil
}

// sandboxAgrees allows for a Pod that has failed: nobody makes it anew.
func sandboxAgrees(env *simtest.Env, s *v1alpha1.Sandbox, pods []corev1.Pod) error {
	expired := s.Spec.ShutdownTime != nil && !s.Spec.ShutdownTime.After(time.Now())
	want := int(ptr.Deref(s.Spec.Replicas, 1))
	if expired {
		want = 0
	}
	failed := slices.ContainsFunc(pods, func(p corev1.Pod) bool { return p.Status.Phase == corev1.PodFailed })
	ready := meta.IsStatusConditionTrue(s.Status.Conditions, string(v1alpha1.SandboxConditionReady))
	there := env.Get(&corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: s.Namespace, Name: s.Name}}) == nil
	if len(pods) != want || int(s.Status.Replicas) != want || there == expired || ready != (!expired && !failed) {
		return fmt.Errorf("the Sandbox %s is to have %d Pods and has %d, has a Service: %v, has expired: %v; it says %+v", s.Name, want, len(pods), there, expired, s.Status)
	}
	return nil
}
