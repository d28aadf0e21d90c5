package types

import (
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
)

// clientResource is a resource as client-go's typed client knows it.
type clientResource struct {
	kind                           string
	namespaced, status, scale      bool
	create, list, watch, deleteAll bool
}

// typedClients parses the interfaces of client-go's typed clients, which are generated from the same markers as the server.
func typedClients(t *testing.T) map[schema.GroupVersionResource]clientResource {
	t.Helper()
	kinds := map[reflect.Type]schema.GroupVersionKind{}
	for gvk, typ := range scheme.Scheme.AllKnownTypes() {
		kinds[typ] = gvk
	}
	all := map[schema.GroupVersionResource]clientResource{}
	clientset := reflect.TypeFor[kubernetes.Interface]()
	for i := range clientset.NumMethod() {
		group := clientset.Method(i)
		if group.Name == "Discovery" {
			continue
		}
		groupClient := group.Type.Out(0)
		for j := range groupClient.NumMethod() {
			method := groupClient.Method(j)
			if method.Name == "RESTClient" {
				continue
			}
			client := method.Type.Out(0)
			r := clientResource{namespaced: method.Type.NumIn() == 1}
			has := func(name string) bool { _, ok := client.MethodByName(name); return ok }
			r.create, r.list, r.watch, r.deleteAll = has("Create"), has("List"), has("Watch"), has("DeleteCollection")
			r.status, r.scale = has("UpdateStatus"), has("GetScale")
			create, ok := client.MethodByName("Create")
			if !ok {
				continue // policy's Eviction is a subresource of pods
			}
			gvk := kinds[create.Type.Out(0).Elem()]
			r.kind = gvk.Kind
			all[gvk.GroupVersion().WithResource(strings.ToLower(method.Name))] = r
		}
	}
	if len(all) < 130 {
		t.Fatalf("found only %d resources in client-go's typed clients", len(all))
	}
	return all
}

// The table of built-in resources agrees with client-go: no resource is missing or made up, and scope, kind, verbs and status are
// the same.
func TestTableAgreesWithTypedClients(t *testing.T) {
	clients := typedClients(t)
	seen := map[schema.GroupVersionResource]bool{}
	for _, r := range Builtin(BuiltinOptions{AllVersions: true}) {
		gvr := r.GroupVersionResource()
		seen[gvr] = true
		c, ok := clients[gvr]
		if !ok {
			if r.Plural != "bindings" { // has no client of its own
				t.Errorf("%s is in the table but in no client of client-go", r)
			}
			continue
		}
		if c.kind != r.Kind || c.namespaced != r.Namespaced {
			t.Errorf("%s: kind %s, namespaced %v; client-go has %s, %v", r, r.Kind, r.Namespaced, c.kind, c.namespaced)
		}
		if got := r.Subresource(Status) != nil; got != c.status {
			t.Errorf("%s: status subresource %v, client-go has %v", r, got, c.status)
		}
		if c.scale && r.Subresource(Scale) == nil {
			t.Errorf("%s has no scale, client-go has one", r)
		}
		if readOnly := r.Plural == "componentstatuses"; !readOnly && c.create != r.Allows("create", "") {
			t.Errorf("%s: create %v, client-go has %v", r, r.Allows("create", ""), c.create)
		}
		if c.list != r.Allows("list", "") {
			t.Errorf("%s: list %v, client-go has %v", r, r.Allows("list", ""), c.list)
		}
	}
	for gvr := range clients {
		if !seen[gvr] {
			t.Errorf("%s of client-go is not in the table", gvr)
		}
	}
}

// Objects of every built-in kind can be constructed, decoded, prepared and shown.
func TestEveryBuiltinKindWorks(t *testing.T) {
	for _, r := range Builtin(BuiltinOptions{AllVersions: true}) {
		obj := r.Strategy.New()
		if obj.GetObjectKind().GroupVersionKind() != r.GroupVersionKind() {
			t.Errorf("%s: New returned a %s", r, obj.GetObjectKind().GroupVersionKind())
		}
		if r.Strategy.NewList().GetObjectKind().GroupVersionKind() != r.ListGroupVersionKind() {
			t.Errorf("%s: NewList returned a %s", r, r.Strategy.NewList().GetObjectKind().GroupVersionKind())
		}
		if r.Allows("list", "") {
			if _, err := meta.ListAccessor(r.Strategy.NewList()); err != nil {
				t.Errorf("%s: %v", r, err)
			}
		}
		body := Body{Data: []byte(`{"apiVersion":"` + r.GroupVersion().String() + `","kind":"` + r.Kind + `","metadata":{"name":"a","nonsense":1}}`)}
		decoded, warnings, err := r.Decode(body, "")
		if err != nil || !slices.Equal(warnings, []string{`unknown field "metadata.nonsense"`}) {
			t.Errorf("%s: decoded with %v and warnings %q", r, err, warnings)
			continue
		}
		namespace := ""
		if r.Namespaced {
			namespace = "ns"
		}
		if WithoutMeta(decoded) {
			continue
		}
		if _, err := r.BeforeCreate(decoded, System{Namespace: namespace, UID: "u"}); err != nil {
			t.Errorf("%s: create: %v", r, err)
		}
		m, err := meta.Accessor(decoded)
		if err != nil {
			t.Fatal(err)
		}
		m.SetResourceVersion("1")
		next := decoded.DeepCopyObject()
		if _, err := r.BeforeUpdate(next, decoded, namespace, ""); err != nil {
			t.Errorf("%s: update: %v", r, err)
		}
		table, err := r.Strategy.Table(decoded, &metav1.TableOptions{}, time.Time{})
		if err != nil || len(table.Rows) != 1 || len(table.ColumnDefinitions) != 2 {
			t.Errorf("%s: table %+v, %v", r, table, err)
		}
		for _, f := range r.SelectableFields {
			r.Strategy.Field(decoded, f)
		}
	}
}

func TestDefaultBuiltinsAreStable(t *testing.T) {
	for _, r := range Builtin(BuiltinOptions{}) {
		if prerelease(r.Version) {
			t.Errorf("%s is served by default", r)
		}
	}
	reg := NewRegistry()
	if err := reg.Add(Builtin(BuiltinOptions{AllVersions: true})...); err != nil {
		t.Fatal(err)
	}
	groups := reg.Groups()
	if groups[0].Name != "" || groups[1].Name != "authentication.k8s.io" {
		t.Errorf("the first groups are %q and %q", groups[0].Name, groups[1].Name)
	}
	for _, g := range groups {
		if g.Name == "autoscaling" && (g.Versions[0].Name != "v2" || g.Versions[1].Name != "v1") {
			t.Errorf("autoscaling prefers %q", g.Versions[0].Name)
		}
	}
	if reg.ByKind(corev1.SchemeGroupVersion.WithKind("Pod")).Plural != "pods" {
		t.Error("Pod is not found by kind")
	}
}

func pods(t *testing.T) *Resource {
	t.Helper()
	for _, r := range Builtin(BuiltinOptions{}) {
		if r.Plural == "pods" {
			return r
		}
	}
	t.Fatal("no pods")
	return nil
}

// A status write changes only the status, a write of the object never does, and the generation counts changes of the spec.
func TestStatusAndGenerationOfPods(t *testing.T) {
	r := pods(t)
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "a"}, Status: corev1.PodStatus{Phase: corev1.PodRunning, Message: "mine"}}
	pod.SetGroupVersionKind(r.GroupVersionKind())
	if _, err := r.BeforeCreate(pod, System{Namespace: "ns", UID: "u"}); err != nil {
		t.Fatal(err)
	}
	if pod.Status.Phase != corev1.PodPending || pod.Status.Message != "" || pod.Generation != 1 {
		t.Errorf("created with status %+v and generation %d", pod.Status, pod.Generation)
	}

	pod.ResourceVersion = "1"
	status := pod.DeepCopy()
	status.Status.Phase, status.Spec.NodeName = corev1.PodRunning, "n1"
	status.OwnerReferences = []metav1.OwnerReference{{APIVersion: "v1", Kind: "Node", Name: "n", UID: "x"}}
	if _, err := r.BeforeUpdate(status, pod, "ns", Status); err != nil {
		t.Fatal(err)
	}
	if status.Status.Phase != corev1.PodRunning || status.Spec.NodeName != "" || status.OwnerReferences != nil || status.Generation != 1 {
		t.Errorf("a status write made %+v", status)
	}

	spec := status.DeepCopy()
	spec.Spec.NodeName, spec.Status.Phase, spec.Generation = "n1", corev1.PodFailed, 9
	if _, err := r.BeforeUpdate(spec, status, "ns", ""); err != nil {
		t.Fatal(err)
	}
	if spec.Spec.NodeName != "n1" || spec.Status.Phase != corev1.PodRunning || spec.Generation != 2 {
		t.Errorf("a write made %+v", spec)
	}
	if grace := r.Strategy.(Deleter).GracePeriod(spec, nil); grace != 30 {
		t.Errorf("a bound pod is deleted after %d s", grace)
	}
	if grace := r.Strategy.(Deleter).GracePeriod(pod, nil); grace != 0 {
		t.Errorf("an unbound pod is deleted after %d s", grace)
	}
}

func TestRegistryRejectsDuplicates(t *testing.T) {
	reg := NewRegistry()
	r := pods(t)
	if err := reg.Add(r, r); err == nil || len(reg.All()) != 0 {
		t.Errorf("Add(r, r) = %v with %d resources", err, len(reg.All()))
	}
	if err := reg.Add(r); err != nil {
		t.Fatal(err)
	}
	if err := reg.Add(r); err == nil {
		t.Error("the same resource was added twice")
	}
	if !reg.Remove(r.GroupResource()) || reg.Lookup(r.GroupVersionResource()) != nil || reg.ByKind(r.GroupVersionKind()) != nil {
		t.Error("a removed resource is still there")
	}
}
