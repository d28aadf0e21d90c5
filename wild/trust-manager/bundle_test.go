package trustmanager_test

import (
	"context"
	"crypto/ed25519"
	"crypto/x509"
	"crypto/x509/pkix"
	"encoding/pem"
	"errors"
	"fmt"
	"math/big"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	trustapi "github.com/cert-manager/trust-manager/pkg/apis/trust/v1alpha1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	trustmanager "github.com/informersim/informersim/wild/trust-manager"
)

const (
	asWanted    = "each namespace that a Bundle selects has its certificates, and no other has"
	neverPanics = "the controller does not panic"
	trust       = "cert-manager" // the namespace of what is trusted
	name        = "company"      // of the Bundle, and so of its ConfigMaps
	key         = "ca.crt"
)

func init() { ctrl.SetLogger(simtest.Logger()) }

// In the end each namespace that the Bundle selects has a ConfigMap with the certificates of its source, and no other namespace has one, whatever is renewed,
// selected, and changed by others (cert-manager.io/docs/trust/trust-manager). A ConfigMap that the controller could not remove is left until it looks at the Bundle
// again, which is a finding of its own, so the test changes the Bundle at last.
func TestBundle(t *testing.T) {
	o := options(t)
	o.Properties = simtest.WellBehaved(simtest.Exception{Property: simtest.NoAbandonedWrite, Client: "trust-manager", Object: "configmaps", Why: "TestFailedCleanupIsNotTriedAgain"})
	simtest.Run(t, o, func(env *simtest.Env) {
		b, _ := setUp(env)
		for range 15 {
			change(env)
			env.Advance(time.Duration(env.Rand().IntN(30)) * time.Second)
			if env.Rand().IntN(6) == 0 {
				env.Restart("trust-manager")
			}
		}
		env.StopFaults()
		env.Advance(10 * time.Minute)
		env.Mutate(b, func() {
			b.Spec.Target.ConfigMap.Metadata.Annotations = map[string]string{"example.com/note": "looked at"}
		})
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	})
}

// What cannot be removed from a namespace that is no longer selected is logged, and counts as done: "Failing target cleanup is not considered critical", says a
// comment. The Bundle is not queued again and says that it is synced, and the namespace goes on to trust what it should not until something else about the Bundle changes.
func TestFailedCleanupIsNotTriedAgain(t *testing.T) {
	o := options(t)
	o.Mix = "none"
	found := simtest.Find(t, o, func(env *simtest.Env) {
		_, p := setUp(env)
		env.Eventually("it has started", time.Hour, p.hasStarted)
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
		env.Inject(fault.Fault{Kind: fault.Write500, Target: "trust-manager", Resource: "configmaps"})
		selectNamespace(env, "team-0", false)
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	})
	hasFound(t, found, asWanted, "team-0 is not selected")
}

// The handlers of Namespaces, ConfigMaps and Secrets ask the cache for the Bundles, and panic if it has none, "so that controller-runtime treats the operation as
// failed and retries the request". Nobody recovers that. If Bundles cannot be listed for as long as a manager waits for its caches (two minutes), or the manager is
// told to end meanwhile, the program dies of the panic, and keeps its Lease, in place of an end that says what is missing.
func TestSlowStartPanics(t *testing.T) {
	o := options(t)
	o.Mix = "none"
	found := simtest.Find(t, o, func(env *simtest.Env) {
		_, p := setUp(env)
		env.Inject(
			fault.Fault{Kind: fault.List503, Target: "trust-manager", Resource: "bundles", Count: fault.Lasting},
			fault.Fault{Kind: fault.WatchOpen503, Target: "trust-manager", Resource: "bundles", Count: fault.Lasting},
		)
		env.Always(neverPanics, func() error { return p.panicked })
		env.Advance(5 * time.Minute)
	})
	hasFound(t, found, neverPanics, "failed waiting for *v1alpha1.Bundle Informer to sync")
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

// options have the CustomResourceDefinition that the project releases. The controller watches metadata, which leaves goroutines behind (docs/findings.md).
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/trust-manager").Output()
	if err != nil {
		t.Fatal(err)
	}
	return simtest.Options{AllowLeaks: true, Scheme: trustmanager.Scheme, CRDs: []string{
		filepath.Join(strings.TrimSpace(string(dir)), "deploy", "crds", "trust.cert-manager.io_bundles.yaml"),
	}}
}

// process is that of the controller.
type process struct {
	started  bool
	panicked error
}

func (p *process) hasStarted() error {
	if p.started {
		return nil
	}
	return errors.New("it has not")
}

// setUp creates three namespaces, of which a Bundle selects two, with what it is to bring there, and starts the controller.
func setUp(env *simtest.Env) (*trustapi.Bundle, *process) {
	for n := range 3 {
		ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("team-%d", n)}}
		env.Create(ns)
		selectNamespace(env, ns.Name, n < 2)
	}
	b := &trustapi.Bundle{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: trustapi.BundleSpec{
		Sources: []trustapi.BundleSource{{ConfigMap: &trustapi.SourceObjectKeySelector{Name: "roots", Key: key}}},
		Target: trustapi.BundleTarget{
			ConfigMap: &trustapi.TargetTemplate{Key: key}, NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"trust": "yes"}},
		},
	}}
	env.Create(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: trust, Name: "roots"}, Data: map[string]string{key: certificate(0)}}, b)
	p := &process{}
	env.Go("trust-manager", func(ctx context.Context) error {
		err := trustmanager.Run(ctx, env.RESTConfig("trust-manager"), trust, func() { p.started = true })
		if err != nil && strings.HasPrefix(err.Error(), "panic: ") {
			p.panicked = err
		}
		return err
	})
	return b, p
}

// certificate returns one of some authorities' certificates, which is the same in each process.
func certificate(n int) string {
	private := ed25519.NewKeyFromSeed(fmt.Appendf(nil, "%032d", n))
	c := &x509.Certificate{
		SerialNumber: big.NewInt(int64(n) + 1), Subject: pkix.Name{CommonName: fmt.Sprintf("root %d", n)}, IsCA: true, BasicConstraintsValid: true,
		NotBefore: time.Date(1999, 1, 1, 0, 0, 0, 0, time.UTC), NotAfter: time.Date(2099, 1, 1, 0, 0, 0, 0, time.UTC),
	}
	der, err := x509.CreateCertificate(nil, c, c, private.Public(), private)
	if err != nil {
		panic(err)
	}
	return string(pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: der}))
}

// selectNamespace labels a namespace so that the Bundle selects it, or not.
func selectNamespace(env *simtest.Env, namespace string, selected bool) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	env.Mutate(ns, func() {
		ns.Labels = map[string]string{"trust": "no"}
		if selected {
			ns.Labels["trust"] = "yes"
		}
	})
}

// change renews what is trusted, selects a namespace or no longer does, or has somebody change or delete what the controller has written.
func change(env *simtest.Env) {
	namespace := fmt.Sprintf("team-%d", env.Rand().IntN(3))
	switch env.Rand().IntN(5) {
	case 0:
		roots := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: trust, Name: "roots"}}
		env.Mutate(roots, func() { roots.Data = map[string]string{key: certificate(env.Rand().IntN(5))} })
	case 1, 2:
		selectNamespace(env, namespace, env.Rand().IntN(2) == 0)
	default:
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		if env.Get(made) == nil {
			env.Delete(made)
		}
	}
}

func agree(env *simtest.Env) error {
	roots := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: trust, Name: "roots"}}
	b := &trustapi.Bundle{ObjectMeta: metav1.ObjectMeta{Name: name}}
	var namespaces corev1.NamespaceList
	if err := errors.Join(env.Get(roots), env.Get(b), env.List(&namespaces, "")); err != nil {
		return err
	}
	for _, ns := range namespaces.Items {
		made := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: name}}
		there, selected := env.Get(made) == nil, ns.Labels["trust"] == "yes"
		switch {
		case there && !selected:
			return fmt.Errorf("%s is not selected, and has the ConfigMap %s with %d keys", ns.Name, name, len(made.Data))
		case selected && (!there || strings.TrimSpace(made.Data[key]) != strings.TrimSpace(roots.Data[key])):
			return fmt.Errorf("%s is selected, and has %q in place of %q", ns.Name, made.Data[key], roots.Data[key])
		}
	}
	if !meta.IsStatusConditionTrue(b.Status.Conditions, trustapi.BundleConditionSynced) {
		return fmt.Errorf("all is there, and the Bundle has the conditions %v", b.Status.Conditions)
	}
	return nil
}
