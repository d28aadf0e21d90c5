package karpenter_test

import (
	"context"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	v1 "sigs.k8s.io/karpenter/pkg/apis/v1"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	karpenter "github.com/informersim/informersim/wild/karpenter"
)

const (
	asWanted = "each NodeClaim has an instance of its own, and there is no other"
	leavesBe = "an instance ends with its NodeClaim, not before"
)

func init() { ctrl.SetLogger(simtest.Logger()) }

// In the end each NodeClaim has an instance of its own, those that are deleted go, and no instance is left; Karpenter ends none whose NodeClaim is wanted. A launch
// that a crash or a deletion interrupts leaves an instance: Karpenter has its providers look for those, and so does the test's.
func TestNodeClaims(t *testing.T) {
	o := options(t)
	o.Properties = simtest.WellBehaved()
	simtest.Run(t, o, testNodeClaims)
}

// Karpenter writes the ID of an instance into the status of its NodeClaim when it has launched it, and ends it by that ID. If the NodeClaim is deleted while that
// write fails, it takes its finalizer away, and the instance stays, although a cache of its own knows it. Its comments say that the finalizer prevents this.
func TestDeletedWhileLaunchedLeavesInstance(t *testing.T) {
	o := options(t)
	o.Mix, o.Seeds = "none", 20
	found := simtest.Find(t, o, func(env *simtest.Env) {
		c := newCloud()
		env.Go("karpenter", func(ctx context.Context) error { return karpenter.Run(ctx, env.RESTConfig("karpenter"), c) })
		env.Create(newClaim("n-0"))
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: "n-0"}}
		env.Eventually("Karpenter has its finalizer there", time.Minute, func() error {
			if err := env.Get(claim); err != nil || len(claim.Finalizers) > 0 {
				return err
			}
			return fmt.Errorf("it has none")
		})
		env.Inject(fault.Fault{Kind: fault.Write503, Target: "karpenter", Verb: "patch", Resource: "nodeclaims", Count: fault.Lasting})
		env.Advance(5 * time.Second)
		env.Delete(claim)
		env.StopFaults()
		env.Eventually(asWanted, time.Hour, func() error { return agree(env, c) })
	})
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != asWanted || !strings.Contains(found.Message, "instances are left") {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// options have the CustomResourceDefinitions that the project releases. A cache and a recorder of Karpenter's have goroutines that end with the process.
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/karpenter").Output()
	if err != nil {
		t.Fatal(err)
	}
	crds := filepath.Join(strings.TrimSpace(string(dir)), "pkg", "apis", "crds")
	return simtest.Options{Scheme: scheme.Scheme, AllowLeaks: true, CRDs: []string{
		filepath.Join(crds, "karpenter.sh_nodeclaims.yaml"), filepath.Join(crds, "karpenter.sh_nodepools.yaml"),
	}}
}

func testNodeClaims(env *simtest.Env) {
	c := newCloud()
	broken := ""
	c.ended = func(i *instance) {
		claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: i.claim}}
		if env.Get(claim) == nil && claim.DeletionTimestamp == nil && claim.Status.ProviderID == i.id {
			broken = fmt.Sprintf("the instance %s ends, and its NodeClaim %s is not deleted", i.id, i.claim)
		}
	}
	env.Always(leavesBe, func() error {
		if broken != "" {
			return fmt.Errorf("%s", broken)
		}
		return nil
	})
	env.Go("karpenter", func(ctx context.Context) error { return karpenter.Run(ctx, env.RESTConfig("karpenter"), c) })
	for range 15 {
		change(env)
		env.Advance(time.Duration(env.Rand().IntN(20)) * time.Second)
		if env.Rand().IntN(6) == 0 {
			env.Restart("karpenter")
		}
	}
	env.StopFaults()
	env.Advance(5 * time.Minute)
	removeUnknown(env, c)
	env.Eventually(asWanted, time.Hour, func() error { return agree(env, c) })
}

func newClaim(name string) *v1.NodeClaim {
	return &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: v1.NodeClaimSpec{
		NodeClassRef: &v1.NodeClassReference{Group: "karpenter.test.sh", Kind: "TestNodeClass", Name: "default"},
		Requirements: []v1.NodeSelectorRequirementWithMinValues{{Key: corev1.LabelArchStable, Operator: corev1.NodeSelectorOpIn, Values: []string{"amd64"}}},
	}}
}

// change creates a NodeClaim, or deletes one that its controller knows.
func change(env *simtest.Env) {
	claim := &v1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("n-%d", env.Rand().IntN(4))}}
	switch {
	case env.Get(claim) != nil:
		env.Create(newClaim(claim.Name))
	case claim.DeletionTimestamp == nil && len(claim.Finalizers) > 0:
		env.Delete(claim)
	}
}

// removeUnknown plays a part of the provider: it removes the instances that no NodeClaim names.
func removeUnknown(env *simtest.Env, c *cloud) {
	var claims v1.NodeClaimList
	if env.List(&claims, "") != nil {
		return
	}
	known := map[string]bool{}
	for _, claim := range claims.Items {
		known[claim.Status.ProviderID] = true
	}
	for _, id := range c.ids() {
		if !known[id] {
			delete(c.instances, id)
		}
	}
}

func agree(env *simtest.Env, c *cloud) error {
	var claims v1.NodeClaimList
	if err := env.List(&claims, ""); err != nil {
		return err
	}
	left := map[string]bool{}
	for _, id := range c.ids() {
		left[id] = true
	}
	for i := range claims.Items {
		claim := &claims.Items[i]
		if claim.DeletionTimestamp != nil || !claim.StatusConditions().Get(v1.ConditionTypeLaunched).IsTrue() || !left[claim.Status.ProviderID] {
			return fmt.Errorf("the NodeClaim %s is being deleted since %v, its instance is %q, which is there: %t",
				claim.Name, claim.DeletionTimestamp, claim.Status.ProviderID, left[claim.Status.ProviderID])
		}
		delete(left, claim.Status.ProviderID)
	}
	if len(left) > 0 {
		return fmt.Errorf("instances are left: %v", left)
	}
	return nil
}
