package certmanager_test

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	cmapi "github.com/cert-manager/cert-manager/pkg/apis/certmanager/v1"
	cmmeta "github.com/cert-manager/cert-manager/pkg/apis/meta/v1"
	admissionv1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	certmanager "github.com/informersim/informersim/wild/cert-manager"
)

const (
	asWanted = "each webhook has the CA of the Certificate that its configuration names"
	owner    = "cert-manager.io/certificate-name"
)

func init() { ctrl.SetLogger(simtest.Logger()) }

// In the end each webhook has the CA that is in the Secret of the Certificate that its configuration names, whatever is renewed, moved, deleted and created again.
func TestInjectCA(t *testing.T) {
	o := options(t)
	o.AllowLeaks = true // TestStoppedWatchLeavesGoroutine
	o.Properties = simtest.WellBehaved()
	simtest.Run(t, o, testInjectCA)
}

// controller-runtime passes the watches of metadata through a goroutine, which waits for ever to deliver an event when the watch is stopped at that moment.
func TestStoppedWatchLeavesGoroutine(t *testing.T) {
	o := options(t)
	o.Mix, o.Seeds = "none", 100
	found := simtest.Find(t, o, func(env *simtest.Env) {
		secret := newSecret(env, "a", "a")
		env.Create(newCertificate("a", "a"), secret)
		started := false
		env.Go("cainjector", func(ctx context.Context) error {
			return certmanager.Run(ctx, env.RESTConfig("cainjector"), func() { started = true })
		})
		env.Eventually("it has started", time.Hour, func() error { return is(started) })
		for range 5 {
			env.Inject(fault.Fault{Kind: fault.Watch500, Target: "cainjector", Resource: "secrets"})
			for range 3 {
				env.Mutate(secret, func() { secret.Data = newCA(env) })
			}
			env.Advance(time.Minute)
		}
	})
	if found == nil {
		t.Fatal("not found: has controller-runtime been mended?")
	}
	if text := fmt.Sprint(found); !strings.Contains(text, "watch.(*filteredWatch).loop") {
		t.Errorf("something else was found:\n%s", text)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// options have the CustomResourceDefinition that the project releases.
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/cert-manager/cert-manager").Output()
	if err != nil {
		t.Fatal(err)
	}
	return simtest.Options{Scheme: certmanager.Scheme, CRDs: []string{
		filepath.Join(strings.TrimSpace(string(dir)), "deploy", "crds", "cert-manager.io_certificates.yaml"),
	}}
}

func testInjectCA(env *simtest.Env) {
	for _, name := range []string{"a", "b"} {
		env.Create(newCertificate(name, name), newSecret(env, name, name))
	}
	env.Create(newConfiguration("one", "a"), newConfiguration("two", "b"))
	env.Go("cainjector", func(ctx context.Context) error { return certmanager.Run(ctx, env.RESTConfig("cainjector"), func() {}) })
	for range 20 {
		change(env)
		env.Advance(time.Duration(env.Rand().IntN(20)) * time.Second)
		if env.Rand().IntN(8) == 0 {
			env.Restart("cainjector")
		}
	}
	env.StopFaults()
	env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
}

// is fails unless the manager has started.
func is(started bool) error {
	if started {
		return nil
	}
	return errors.New("it has not")
}

func newCertificate(name, secret string) *cmapi.Certificate {
	return &cmapi.Certificate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}, Spec: cmapi.CertificateSpec{
		SecretName: secret, CommonName: "example.com", IssuerRef: cmmeta.IssuerReference{Name: "issuer"},
	}}
}

// newSecret has a CA that no other has, as if it had just been issued for a Certificate.
func newSecret(env *simtest.Env, name, certificate string) *corev1.Secret {
	return &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Annotations: map[string]string{owner: certificate}}, Data: newCA(env)}
}

func newCA(env *simtest.Env) map[string][]byte {
	return map[string][]byte{cmmeta.TLSCAKey: fmt.Appendf(nil, "issued %d", env.Now().UnixNano())}
}

func newConfiguration(name, certificate string) *admissionv1.MutatingWebhookConfiguration {
	hook := func(name string) admissionv1.MutatingWebhook {
		return admissionv1.MutatingWebhook{
			Name: name + ".example.com", SideEffects: ptr.To(admissionv1.SideEffectClassNone), AdmissionReviewVersions: []string{"v1"},
			ClientConfig: admissionv1.WebhookClientConfig{Service: &admissionv1.ServiceReference{Namespace: "default", Name: name}},
		}
	}
	return &admissionv1.MutatingWebhookConfiguration{
		ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{cmapi.WantInjectAnnotation: "default/" + certificate}},
		Webhooks:   []admissionv1.MutatingWebhook{hook("first"), hook("second")},
	}
}

// change renews a certificate, moves it to another Secret, has a configuration name the other one, or deletes and creates something.
func change(env *simtest.Env) {
	pick := func(names ...string) string { return names[env.Rand().IntN(len(names))] }
	name := pick("a", "b")
	certificate := &cmapi.Certificate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
	configuration := &admissionv1.MutatingWebhookConfiguration{ObjectMeta: metav1.ObjectMeta{Name: pick("one", "two")}}
	hasCertificate, hasConfiguration := env.Get(certificate) == nil, env.Get(configuration) == nil
	switch env.Rand().IntN(6) {
	case 0, 1: // the Secret of the Certificate is issued, or again
		if !hasCertificate {
			return
		}
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: certificate.Spec.SecretName}}
		if env.Get(s) != nil {
			env.Create(newSecret(env, s.Name, name))
			return
		}
		env.Mutate(s, func() { s.Data = newCA(env) })
	case 2: // it is to be in another Secret
		if hasCertificate {
			to := name + pick("", "-2")
			env.Mutate(certificate, func() { certificate.Spec.SecretName = to })
		}
	case 3:
		if !hasConfiguration {
			env.Create(newConfiguration(configuration.Name, name))
			return
		}
		env.Mutate(configuration, func() { configuration.Annotations[cmapi.WantInjectAnnotation] = "default/" + name })
	case 4:
		if hasConfiguration {
			env.Delete(configuration)
		}
	default:
		if !hasCertificate {
			env.Create(newCertificate(name, name))
			return
		}
		env.Delete(certificate)
	}
}

func agree(env *simtest.Env) error {
	var all admissionv1.MutatingWebhookConfigurationList
	if err := env.List(&all, ""); err != nil {
		return err
	}
	for _, c := range all.Items {
		name := strings.TrimPrefix(c.Annotations[cmapi.WantInjectAnnotation], "default/")
		certificate := &cmapi.Certificate{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		if env.Get(certificate) != nil {
			continue
		}
		s := &corev1.Secret{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: certificate.Spec.SecretName}}
		if env.Get(s) != nil {
			continue
		}
		for _, w := range c.Webhooks {
			if string(w.ClientConfig.CABundle) != string(s.Data[cmmeta.TLSCAKey]) {
				return fmt.Errorf("the webhook %s of %s, which names %s, has the CA %q; that is %q", w.Name, c.Name, name, w.ClientConfig.CABundle, s.Data[cmmeta.TLSCAKey])
			}
		}
	}
	return nil
}
