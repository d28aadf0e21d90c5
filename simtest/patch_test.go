package simtest_test

import (
	"slices"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/types"
	corev1ac "k8s.io/client-go/applyconfigurations/core/v1"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/fault"
)

// Each type of patch does what its name says, and its object is what the server answers. A lost answer does not make a patch twice.
func TestPatch(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 3}, func(env *simtest.Env) {
		p := podOn("a", "one", map[string]string{"app": "web"})
		env.Create(p)
		env.Patch(p, types.MergePatchType, `{"metadata":{"labels":{"app":null,"tier":"1"},"finalizers":["a/x","a/y"]}}`)
		if p.Labels["tier"] != "1" || len(p.Labels) != 1 || p.Spec.NodeName != "one" || len(p.Finalizers) != 2 {
			t.Errorf("after a merge patch: %v %v", p.Labels, p.Finalizers)
		}
		env.Patch(p, types.StrategicMergePatchType, map[string]any{"spec": map[string]any{"containers": []any{map[string]any{"name": "c", "image": "j"}}}})
		if len(p.Spec.Containers) != 1 || p.Spec.Containers[0].Image != "j" || p.Spec.Containers[0].Name != "c" {
			t.Errorf("after a strategic merge patch: %v", p.Spec.Containers)
		}
		env.Inject(fault.Fault{Kind: fault.WriteLost, Target: "workload"})
		env.Patch(p, types.JSONPatchType, []byte(`[{"op":"remove","path":"/metadata/finalizers/0"}]`))
		if !slices.Equal(p.Finalizers, []string{"a/y"}) {
			t.Errorf("after a JSON patch whose answer was lost: %v", p.Finalizers)
		}
		env.Patch(p, types.MergePatchType, `{"status":{"phase":"Running"}}`, "status")
		env.Patch(p, types.ApplyPatchType, "metadata: {annotations: {by: workload}}\napiVersion: v1\nkind: Pod\n")
		live := podOn("a", "", nil)
		if err := env.Get(live); err != nil || live.Status.Phase != "Running" || live.Annotations["by"] != "workload" || live.ResourceVersion != p.ResourceVersion {
			t.Errorf("in the end: %v %v %v, %v", live.Status.Phase, live.Annotations, live.ResourceVersion, err)
		}
	})
	wantIn(t, failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) { env.Patch(configMap("a", ""), types.MergePatchType, `{}`) }),
		`env.Patch: configmaps default/a: 404 NotFound: configmaps "a" not found`)
	wantIn(t, failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		env.Create(configMap("a", ""))
		env.Patch(configMap("a", ""), types.JSONPatchType, `[{"op":"test","path":"/data/v","value":"1"}]`)
	}), `env.Patch: configmaps default/a: 422 Invalid: `)
	wantIn(t, failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) { env.Patch(configMap("a", ""), types.MergePatchType, func() {}) }), "env.Patch: json: ")
}

// A server-side apply owns its fields, whatever it is given, and says whose others are.
func TestServerSideApply(t *testing.T) {
	owner := metav1.ApplyOptions{FieldManager: "owner"}
	simtest.Run(t, simtest.Options{Seeds: 3}, func(env *simtest.Env) {
		env.ServerSideApply(corev1ac.ConfigMap("a", "default").WithData(map[string]string{"v": "1", "w": "1"}), owner)
		m := configMap("a", "")
		if err := env.Get(m); err != nil || m.Data["v"] != "1" {
			t.Errorf("an apply configuration creates %v, %v", m.Data, err)
		}
		env.ServerSideApply(&corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "a", Namespace: "default"}, Data: map[string]string{"x": "2"}}, metav1.ApplyOptions{FieldManager: "other"})
		env.ServerSideApply(corev1ac.ConfigMap("a", "default").WithData(map[string]string{"v": "3"}), owner)
		if err := env.Get(m); err != nil || m.Data["v"] != "3" || m.Data["x"] != "2" || len(m.Data) != 2 {
			t.Errorf("what the owner leaves out is gone, and nothing else: %v, %v", m.Data, err)
		}
		// The answer can be applied again, with its managedFields.
		u := &unstructured.Unstructured{Object: map[string]any{
			"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "a", "namespace": "default"}, "data": map[string]any{"x": "4"},
		}}
		for range 2 {
			env.ServerSideApply(u, metav1.ApplyOptions{FieldManager: "other", Force: true})
		}
		if u.GetResourceVersion() == "" || len(u.GetManagedFields()) == 0 {
			t.Errorf("the answer is not in the object: %v", u.Object)
		}
		env.ServerSideApply(map[string]any{"apiVersion": "v1", "kind": "Namespace", "metadata": map[string]any{"name": "new"}}, owner)
		if !slices.Contains(env.Cluster().Keys("namespaces"), "new") {
			t.Errorf("there are the namespaces %q", env.Cluster().Keys("namespaces"))
		}
	})
	for want, body := range map[string]func(*simtest.Env){
		`env.ServerSideApply: configmaps default/a: 409 Conflict: Apply failed with 1 conflict: conflict with "other": .data.v`: func(env *simtest.Env) {
			env.ServerSideApply(configMap("a", "1"), metav1.ApplyOptions{FieldManager: "other"})
			env.ServerSideApply(configMap("a", "2"), owner)
		},
		"the options have no FieldManager":                                 func(env *simtest.Env) { env.ServerSideApply(configMap("a", "1"), metav1.ApplyOptions{}) },
		"the JSON of map[string]string has no apiVersion and kind":         func(env *simtest.Env) { env.ServerSideApply(map[string]string{}, owner) },
		"the JSON of *v1.ConfigMapApplyConfiguration has no metadata.name": func(env *simtest.Env) { env.ServerSideApply(corev1ac.ConfigMap("", ""), owner) },
		"the JSON of []int is no object":                                   func(env *simtest.Env) { env.ServerSideApply([]int{1}, owner) },
	} {
		wantIn(t, failure(t, simtest.Options{Mix: "none"}, body), want)
	}
}
