package clusterapi_test

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"net/http"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/transport"
	"k8s.io/utils/ptr"
	clusterv1 "sigs.k8s.io/cluster-api/api/core/v1beta2"
	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
	clusterapi "github.com/informersim/informersim/wild/cluster-api"
)

const (
	providers = "infrastructure.cluster.x-k8s.io" // the group of their kinds
	asWanted  = "a MachineSet has its Machines, each with an infrastructure of its own, and there is no other"
)

func init() { ctrl.SetLogger(simtest.Logger()) }

// In the end a MachineSet has as many Machines as it asks for, each of which has its infrastructure, and no infrastructure is left without a Machine, whatever
// is scaled and deleted. The controller takes the infrastructure from Machines whose create has failed, as far as it knows, and from those that it does not know
// after a restart, which are findings of their own: a MachineHealthCheck would replace those in time, and the test does.
func TestMachineSet(t *testing.T) {
	o := options(t)
	o.Properties = simtest.WellBehaved(simtest.Exception{Property: simtest.NoStaleGeneration, Client: "capi", Object: "machines", Why: "TestFailedPatchLeavesGeneration"})
	simtest.Run(t, o, testMachineSet)
}

func testMachineSet(env *simtest.Env) {
	var broken suspects
	s, _ := setUp(env, broken.watch)
	for range 10 {
		change(env)
		env.Advance(time.Duration(env.Rand().IntN(60)) * time.Second)
		mayRestart(env)
	}
	env.StopFaults()
	env.Advance(10 * time.Minute)
	replaceBroken(env, broken.names)
	env.Eventually(asWanted, time.Hour, func() error { return agree(env, s) })
}

// The controller creates the infrastructure of a Machine, and then the Machine. If that fails, as far as it knows, it deletes the infrastructure. If only the
// answer was lost, a Machine stays whose infrastructure is gone. It counts as one of those that are asked for, and never becomes a node.
func TestLostAnswerTakesInfrastructure(t *testing.T) {
	o := options(t)
	o.Mix, o.Seeds = "none", 20
	found := simtest.Find(t, o, func(env *simtest.Env) {
		s, _ := setUp(env)
		env.Inject(fault.Fault{Kind: fault.WriteLost, Target: "capi", Verb: "patch", Resource: "machines"})
		env.Eventually(asWanted, time.Hour, func() error { return agree(env, s) })
	})
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != asWanted || !strings.Contains(found.Message, "has no infrastructure") {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// What a reconcile has changed is sent in several patches: the conditions, and then the rest of the status, with observedGeneration if nothing has failed. If it has failed, so that all but that is
// written, and the next one's conditions arrive and its status does not, the one after that changes nothing, and util/patch returns early then, before it would set observedGeneration.
func TestFailedPatchLeavesGeneration(t *testing.T) {
	const observed = "each Machine says that its generation was observed"
	o := options(t)
	o.Mix, o.Seeds = "none", 40
	found := simtest.Find(t, o, func(env *simtest.Env) {
		setUp(env)
		for _, plural := range []string{"machines", "genericmachines"} {
			env.Inject(fault.Fault{Kind: fault.Write500, Target: "capi", Verb: "patch", Resource: plural, Probability: 0.4, Count: 6})
		}
		env.Eventually(observed, time.Hour, func() error {
			var machines clusterv1.MachineList
			if err := env.List(&machines, "default"); err != nil || len(machines.Items) == 0 {
				return errors.Join(err, errors.New("there is no Machine"))
			}
			for _, m := range machines.Items {
				if m.Status.ObservedGeneration != m.Generation {
					return fmt.Errorf("status.observedGeneration of the Machine %s is %d, and its generation is %d", m.Name, m.Status.ObservedGeneration, m.Generation)
				}
			}
			return nil
		})
	})
	if found == nil {
		t.Fatal("not found: has the controller been mended?")
	}
	if found.Property != observed || !strings.Contains(found.Message, "is 0, and its generation is 1") {
		t.Errorf("something else was found:\n%s", found)
	}
	t.Logf("found with seed %d, %d steps, %d faults: %s", found.Seed, found.Steps, found.Faults, found.Message)
}

// suspects has the names of Machines whose infrastructure the controller may have taken: an apply of them failed so that a client cannot know whether it did, or
// what was deleted has their name.
type suspects struct{ names map[string]bool }

// watch is a transport.WrapperFunc. The goroutines of a run take turns, so it needs no lock.
func (s *suspects) watch(next http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		resp, err := next.RoundTrip(r)
		kind, name := path.Split(r.URL.Path)
		unknown := err != nil || resp.StatusCode >= http.StatusInternalServerError
		if kind = path.Base(kind); kind == "machines" && r.Method == http.MethodPatch && unknown || kind == "genericmachines" && r.Method == http.MethodDelete {
			if s.names == nil {
				s.names = map[string]bool{}
			}
			s.names[name] = true
		}
		return resp, err
	})
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }

// replaceBroken deletes those of some Machines that have no infrastructure.
func replaceBroken(env *simtest.Env, names map[string]bool) {
	for _, name := range slices.Sorted(maps.Keys(names)) {
		m := &clusterv1.Machine{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name}}
		if env.Get(m) == nil && m.DeletionTimestamp == nil && env.Get(infrastructure("GenericMachine", m.Spec.InfrastructureRef.Name, nil)) != nil {
			env.Delete(m)
		}
	}
}

// options have the CustomResourceDefinitions that the project releases, and those of a provider of infrastructure. The controllers have caches whose goroutines
// end with the process.
func options(t *testing.T) simtest.Options {
	t.Helper()
	dir, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "sigs.k8s.io/cluster-api").Output()
	if err != nil {
		t.Fatal(err)
	}
	o := simtest.Options{GarbageCollection: true, AllowLeaks: true, Scheme: clusterapi.Scheme, CRDs: []string{
		definition("apiextensions.k8s.io", "CustomResourceDefinition", "customresourcedefinitions", "Cluster"),
		definition(providers, "GenericMachine", "genericmachines", "Namespaced"),
		definition(providers, "GenericMachineTemplate", "genericmachinetemplates", "Namespaced"),
		definition(providers, "GenericRemediation", "genericremediations", "Namespaced"),
		definition(providers, "GenericRemediationTemplate", "genericremediationtemplates", "Namespaced"),
	}}
	for _, name := range []string{"clusters", "machinedeployments", "machinehealthchecks", "machinepools", "machinesets", "machines"} {
		o.CRDs = append(o.CRDs, filepath.Join(strings.TrimSpace(string(dir)), "core", "config", "crd", "bases", "cluster.x-k8s.io_"+name+".yaml"))
	}
	return o
}

// definition returns the CustomResourceDefinition of a kind that may have any fields. The controllers read the labels of CustomResourceDefinitions, to learn
// the versions of a provider's kinds, and the cluster of a Go test does not serve those that it has: so they are a kind of their own here.
func definition(group, kind, plural, scope string) string {
	return fmt.Sprintf(`
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata:
  name: %[3]s.%[1]s
  annotations: {api-approved.kubernetes.io: "unapproved, for a test"}
spec:
  group: %[1]s
  scope: %[4]s
  names: {kind: %[2]s, listKind: %[2]sList, plural: %[3]s}
  versions:
  - name: v1
    served: true
    storage: true
    subresources: {status: {}}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec: {type: object, x-kubernetes-preserve-unknown-fields: true}
          status: {type: object, x-kubernetes-preserve-unknown-fields: true}
`, group, kind, plural, scope)
}

// contract is what a provider says of a kind: which version keeps which of Cluster API's contracts.
func contract(plural string) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": "apiextensions.k8s.io/v1", "kind": "CustomResourceDefinition",
		"metadata": map[string]any{"name": plural + "." + providers, "labels": map[string]any{"cluster.x-k8s.io/v1beta2": "v1"}},
	}}
}

func infrastructure(kind, name string, spec map[string]any) *unstructured.Unstructured {
	return &unstructured.Unstructured{Object: map[string]any{
		"apiVersion": providers + "/v1", "kind": kind, "metadata": map[string]any{"namespace": "default", "name": name}, "spec": spec,
	}}
}

// setUp creates a cluster and a MachineSet of it, and starts the controllers.
func setUp(env *simtest.Env, wrap ...transport.WrapperFunc) (*clusterv1.MachineSet, *process) {
	p := &process{}
	labels := map[string]string{clusterv1.ClusterNameLabel: "prod", "pool": "workers"}
	s := &clusterv1.MachineSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "workers", Labels: labels}, Spec: clusterv1.MachineSetSpec{
		ClusterName: "prod", Replicas: ptr.To[int32](3), Selector: metav1.LabelSelector{MatchLabels: labels},
		Template: clusterv1.MachineTemplateSpec{ObjectMeta: clusterv1.ObjectMeta{Labels: labels}, Spec: clusterv1.MachineSpec{
			ClusterName: "prod", Bootstrap: clusterv1.Bootstrap{DataSecretName: ptr.To("bootstrap")},
			InfrastructureRef: clusterv1.ContractVersionedObjectReference{APIGroup: providers, Kind: "GenericMachineTemplate", Name: "small"},
		}},
	}}
	template := map[string]any{"template": map[string]any{"spec": map[string]any{"size": "small"}}}
	env.Create(contract("genericmachines"), contract("genericmachinetemplates"))
	env.Create(infrastructure("GenericMachineTemplate", "small", template), newCluster(), s)
	env.Go("capi", func(ctx context.Context) error {
		cfg := env.RESTConfig("capi")
		for _, w := range wrap {
			cfg.Wrap(w)
		}
		return clusterapi.Run(ctx, cfg, func() { p.started = true })
	})
	return s, p
}

func newCluster() *clusterv1.Cluster {
	return &clusterv1.Cluster{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "prod"}, Spec: clusterv1.ClusterSpec{
		ControlPlaneEndpoint: clusterv1.APIEndpoint{Host: "example.com", Port: 6443},
		InfrastructureRef:    clusterv1.ContractVersionedObjectReference{APIGroup: providers, Kind: "GenericCluster", Name: "prod"},
	}}
}

// process is that of the controllers.
type process struct{ started bool }

// mayRestart starts the process anew, as after a crash, in one of six cases.
func mayRestart(env *simtest.Env) {
	if env.Rand().IntN(6) == 0 {
		env.Restart("capi")
	}
}

// mustStart waits until it has started.
func (p *process) mustStart(env *simtest.Env) {
	env.Eventually("it has started", time.Hour, func() error {
		if p.started {
			return nil
		}
		return errors.New("it has not")
	})
}

// change scales the MachineSet, or deletes a Machine that its controller knows: its finalizer holds it until its infrastructure has gone. The requests may fail.
func change(env *simtest.Env) {
	client, err := dynamic.NewForConfig(env.RESTConfig("user"))
	if err != nil {
		return
	}
	resources := func(plural string) dynamic.ResourceInterface {
		return client.Resource(clusterv1.GroupVersion.WithResource(plural)).Namespace("default")
	}
	if env.Rand().IntN(3) > 0 {
		patch := fmt.Appendf(nil, `{"spec":{"replicas":%d}}`, env.Rand().IntN(5))
		_, _ = resources("machinesets").Patch(env.Context(), "workers", types.MergePatchType, patch, metav1.PatchOptions{})
		return
	}
	var machines clusterv1.MachineList
	if env.List(&machines, "default") != nil {
		return
	}
	for _, m := range machines.Items {
		if m.DeletionTimestamp == nil && len(m.Finalizers) > 0 {
			_ = resources("machines").Delete(env.Context(), m.Name, metav1.DeleteOptions{})
			return
		}
	}
}

func agree(env *simtest.Env, s *clusterv1.MachineSet) error {
	var machines clusterv1.MachineList
	infra := &unstructured.UnstructuredList{}
	infra.SetAPIVersion(providers + "/v1")
	infra.SetKind("GenericMachineList")
	if err := errors.Join(env.Get(s), env.List(&machines, "default"), env.List(infra, "default")); err != nil {
		return err
	}
	left := map[string]bool{}
	for i := range infra.Items {
		left[infra.Items[i].GetName()] = true
	}
	for _, m := range machines.Items {
		if m.DeletionTimestamp != nil {
			return fmt.Errorf("the Machine %s is being deleted since %v", m.Name, m.DeletionTimestamp)
		}
		if !left[m.Spec.InfrastructureRef.Name] {
			return fmt.Errorf("the Machine %s has no infrastructure: there is no %s", m.Name, m.Spec.InfrastructureRef.Name)
		}
		delete(left, m.Spec.InfrastructureRef.Name)
	}
	want, status := int(*s.Spec.Replicas), ptr.Deref(s.Status.Replicas, -1)
	if len(machines.Items) != want || int(status) != want || len(left) > 0 {
		return fmt.Errorf("%d Machines are wanted, %d are there, %d says the status; without a Machine are %v", want, len(machines.Items), status, left)
	}
	return nil
}
