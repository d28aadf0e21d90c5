package externalsecrets_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	esv1 "github.com/external-secrets/external-secrets/apis/externalsecrets/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	externalsecrets "github.com/informersim/informersim/wild/external-secrets"
)

const (
	asWanted = "each namespace that a ClusterExternalSecret selects has its ExternalSecret, no other has, and the status says so"
	goes     = "a namespace that is deleted goes"
	process  = "external-secrets"
	name     = "company" // of the ClusterExternalSecret, and so of its ExternalSecrets
)

func TestMain(m *testing.M) {
	ctrl.SetLogger(simtest.Logger())
	os.Exit(m.Run())
}

// In the end each namespace that the ClusterExternalSecret selects has its ExternalSecret, as the ClusterExternalSecret wants it, no other namespace has one, and the status says where they are, whatever is selected, changed and
// deleted (external-secrets.io/latest/api/clusterexternalsecret). A namespace that was selected before, and no longer is, may keep its ExternalSecret, and does not go, which are findings of their own: so all are selected once
// more at last, and only those that are selected are deleted.
func TestClusterExternalSecret(t *testing.T) {
	o := options(t)
	o.Properties = simtest.WellBehaved()
	simtest.Run(t, o, func(env *simtest.Env) {
		setUp(env)
		for range 15 {
			change(env)
			env.Advance(time.Duration(env.Rand().IntN(30)) * time.Second)
		}
		env.StopFaults()
		env.Eventually(goes, 2*time.Hour, func() error { return allLive(env) }) // a request that fails is tried again after an hour
		selected := map[string]bool{}
		for n := range 3 {
			ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: fmt.Sprintf("team-%d", n)}}
			if env.Get(ns) == nil {
				selected[ns.Name] = ns.Labels["secrets"] == "yes"
				selectNamespace(env, ns.Name, true)
			}
		}
		env.Eventually(asWanted, 2*time.Hour, func() error { return agree(env) })
		env.Advance(10 * time.Minute) // until its caches have that
		for _, namespace := range slices.Sorted(maps.Keys(selected)) {
			selectNamespace(env, namespace, selected[namespace])
		}
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
	})
}

// If an ExternalSecret cannot be updated, its namespace is no longer one of those that the status says have one. If it is not selected any more before that is made good, it keeps its ExternalSecret, and so its secrets.
func TestFailedUpdateLeavesExternalSecret(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		c := setUp(env)
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
		env.Inject(fault.Fault{Kind: fault.Write500, Target: process, Verb: "update", Resource: "externalsecrets", Namespace: "team-0", Count: fault.Lasting, Until: 2 * time.Minute})
		env.Mutate(c, func() { c.Spec.ExternalSecretSpec.Data[0].RemoteRef.Key = "password-1" })
		env.Advance(time.Minute)
		selectNamespace(env, "team-0", false)
		env.Eventually(asWanted, 2*time.Hour, func() error { return agree(env) })
	})
	hasFound(t, found, asWanted, "the namespace team-0 is selected: false, and has its ExternalSecret: true")
}

// What fails is logged, noted in the status, and counts as done: it is tried again after spec.refreshTime, an hour if there is none.
func TestFailedCreateWaitsAnHour(t *testing.T) {
	found := find(t, nil, func(env *simtest.Env) {
		setUp(env)
		env.Advance(0)
		env.Inject(fault.Fault{Kind: fault.Write500, Target: process, Verb: "create", Resource: "externalsecrets", Count: fault.Lasting, Until: 10 * time.Second})
		env.Eventually(asWanted, 50*time.Minute, func() error { return agree(env) })
	})
	hasFound(t, found, asWanted, "and has its ExternalSecret: false")
}

// Without a word of what is to hold, the same is found by what the controller writes once its informers have listed anew, if that is long before it looks again by itself.
func TestFailedWriteIsAbandoned(t *testing.T) {
	found := find(t, simtest.WellBehaved(), func(env *simtest.Env) {
		c := setUp(env)
		env.Mutate(c, func() { c.Spec.RefreshInterval = &metav1.Duration{Duration: 24 * time.Hour} })
		env.Advance(5 * time.Minute)
	})
	hasFound(t, found, simtest.NoAbandonedWrite, "to be tried again after 24h0m0s, as when nothing has failed")
}

// The finalizer that a namespace has while it has an ExternalSecret stays when it is no longer selected (external-secrets/external-secrets#6677, open). Nobody removes it: the namespace can be deleted, and never goes.
func TestDeselectedNamespaceNeverGoes(t *testing.T) {
	found := find(t, nil, deleteDeselected(func(env *simtest.Env) {
		env.Eventually(goes, 2*time.Hour, func() error { return allLive(env) })
	}))
	hasFound(t, found, goes, "team-0 is being deleted")
}

// Without a word of what is to hold, the same is found by the namespace that stays.
func TestDeselectedNamespaceKeepsFinalizer(t *testing.T) {
	found := find(t, simtest.WellBehaved(), deleteDeselected(func(env *simtest.Env) { env.Advance(time.Minute) }))
	hasFound(t, found, simtest.NoFinalizerLeft, "namespaces team-0")
}

// deleteDeselected selects a namespace no longer, and deletes it.
func deleteDeselected(then func(env *simtest.Env)) func(env *simtest.Env) {
	return func(env *simtest.Env) {
		setUp(env)
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
		selectNamespace(env, "team-0", false)
		env.Eventually(asWanted, time.Hour, func() error { return agree(env) })
		env.Delete(&corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "team-0"}})
		then(env)
	}
}

func find(t *testing.T, ready []simtest.Property, body func(env *simtest.Env)) *simtest.Finding {
	t.Helper()
	o := options(t)
	o.Mix, o.Properties = "none", ready
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

// options have the CustomResourceDefinitions that the project releases.
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "github.com/external-secrets/external-secrets").Output()
	if err != nil {
		t.Fatal(err)
	}
	o := simtest.Options{Scheme: externalsecrets.Scheme, Controllers: []string{"namespace"}, GarbageCollection: true}
	for _, plural := range []string{"clusterexternalsecrets", "externalsecrets"} {
		o.CRDs = append(o.CRDs, filepath.Join(strings.TrimSpace(string(dir)), "config", "crds", "bases", "external-secrets.io_"+plural+".yaml"))
	}
	return o
}

// setUp creates three namespaces, of which a ClusterExternalSecret selects two, and starts the controller.
func setUp(env *simtest.Env) *esv1.ClusterExternalSecret {
	for n := range 3 {
		env.Create(newNamespace(fmt.Sprintf("team-%d", n), n < 2))
	}
	c := &esv1.ClusterExternalSecret{ObjectMeta: metav1.ObjectMeta{Name: name}, Spec: esv1.ClusterExternalSecretSpec{
		NamespaceSelectors: []*metav1.LabelSelector{{MatchLabels: map[string]string{"secrets": "yes"}}},
		ExternalSecretSpec: esv1.ExternalSecretSpec{
			SecretStoreRef: esv1.SecretStoreRef{Name: "vault", Kind: esv1.ClusterSecretStoreKind}, RefreshInterval: &metav1.Duration{Duration: time.Hour},
			Data: []esv1.ExternalSecretData{{SecretKey: "password", RemoteRef: esv1.ExternalSecretDataRemoteRef{Key: "password-0"}}},
		},
	}}
	env.Create(c)
	env.Go(process, func(ctx context.Context) error { return externalsecrets.Run(ctx, env.RESTConfig(process)) })
	return c
}

func newNamespace(name string, selected bool) *corev1.Namespace {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{"secrets": "no"}}}
	if selected {
		ns.Labels["secrets"] = "yes"
	}
	return ns
}

// selectNamespace labels a namespace so that the ClusterExternalSecret selects it, or not.
func selectNamespace(env *simtest.Env, namespace string, selected bool) {
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	env.Mutate(ns, func() { ns.Labels["secrets"] = newNamespace(namespace, selected).Labels["secrets"] })
}

// change selects a namespace, or no longer does, deletes one that is selected, makes one anew, changes what the ExternalSecrets are to be, or has somebody delete one.
func change(env *simtest.Env) {
	namespace := fmt.Sprintf("team-%d", env.Rand().IntN(3))
	ns := &corev1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: namespace}}
	err := env.Get(ns)
	switch n := env.Rand().IntN(7); {
	case err != nil:
		env.Create(newNamespace(namespace, true))
	case ns.DeletionTimestamp != nil:
	case n == 0 && ns.Labels["secrets"] == "yes":
		env.Delete(ns)
	case n < 2:
		c := &esv1.ClusterExternalSecret{ObjectMeta: metav1.ObjectMeta{Name: name}}
		key := fmt.Sprintf("password-%d", env.Rand().IntN(5))
		env.Mutate(c, func() { c.Spec.ExternalSecretSpec.Data[0].RemoteRef.Key = key })
	case n < 5:
		selectNamespace(env, namespace, env.Rand().IntN(2) == 0)
	default:
		made := &esv1.ExternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name}}
		if env.Get(made) == nil {
			env.Delete(made)
		}
	}
}

func allLive(env *simtest.Env) error {
	var namespaces corev1.NamespaceList
	if err := env.List(&namespaces, ""); err != nil {
		return err
	}
	for _, ns := range namespaces.Items {
		if ns.DeletionTimestamp != nil {
			return fmt.Errorf("the namespace %s is being deleted since %v, and has the finalizers %v", ns.Name, ns.DeletionTimestamp, ns.Finalizers)
		}
	}
	return nil
}

func agree(env *simtest.Env) error {
	c := &esv1.ClusterExternalSecret{ObjectMeta: metav1.ObjectMeta{Name: name}}
	var namespaces corev1.NamespaceList
	if err := errors.Join(env.Get(c), env.List(&namespaces, "")); err != nil {
		return err
	}
	var want []string
	for _, ns := range namespaces.Items {
		made := &esv1.ExternalSecret{ObjectMeta: metav1.ObjectMeta{Namespace: ns.Name, Name: name}}
		there, selected := env.Get(made) == nil, ns.Labels["secrets"] == "yes"
		if there != selected {
			return fmt.Errorf("the namespace %s is selected: %v, and has its ExternalSecret: %v", ns.Name, selected, there)
		}
		if !selected {
			continue
		}
		want = append(want, ns.Name)
		if has, wanted := made.Spec.Data[0].RemoteRef.Key, c.Spec.ExternalSecretSpec.Data[0].RemoteRef.Key; has != wanted {
			return fmt.Errorf("the ExternalSecret of %s has %s in place of %s", ns.Name, has, wanted)
		}
	}
	if !slices.Equal(c.Status.ProvisionedNamespaces, want) || len(c.Status.FailedNamespaces) > 0 {
		return fmt.Errorf("%v have their ExternalSecrets, and the status says that %v have, and not %v", want, c.Status.ProvisionedNamespaces, c.Status.FailedNamespaces)
	}
	return nil
}
