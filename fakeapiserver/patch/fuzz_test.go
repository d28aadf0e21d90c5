package patch_test

import (
	"reflect"
	"slices"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// fuzzTargets returns two built-in resources, each with a live object. Custom resources are fuzzed less, in package crd: the
// apiextensions library takes minutes to compile with instrumentation.
func fuzzTargets(f *testing.F) ([]*types.Resource, []runtime.Object) {
	f.Helper()
	configmaps, deployments := builtin(f, "configmaps"), builtin(f, "deployments")
	w := patch.NewWriter()
	return []*types.Resource{configmaps, deployments}, []runtime.Object{
		created(f, w, configmaps, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d","labels":{"a":"b"},"finalizers":["a/b"]},"data":{"a":"1","b":"2"}}`),
		created(f, w, deployments, deployment),
	}
}

// FuzzPatch throws arbitrary bytes, as every kind of patch, at a live object: no panic, the live object is unchanged, and the result
// is an object of the same name.
func FuzzPatch(f *testing.F) {
	resources, lives := fuzzTargets(f)
	for _, seed := range []string{
		`[{"op":"replace","path":"/data/a","value":2}]`, `[{"op":"add","path":"/metadata/finalizers/-","value":"y"}]`, `[{"op":"copy","from":"/data","path":"/data/a"}]`,
		`[{"op":"move","from":"/metadata","path":"/spec"}]`, `[{"op":"remove","path":""}]`, `[{"op":"add","path":"/metadata/finalizers/-5","value":null}]`, `[null]`, `[{}]`,
		`{"data":{"a":null,"c":{"x":null}}}`, `{"metadata":{"managedFields":[{}],"ownerReferences":[{"uid":"a"},{"uid":"a"}]}}`, `{"spec":null,"status":7}`,
		`{"spec":{"template":{"spec":{"containers":[{"name":"y","$patch":"delete"}],"$setElementOrder/containers":[{"name":"x"}]}}}}`, `{"$patch":"replace"}`,
		"apiVersion: v1\nkind: ConfigMap\nmetadata: {name: d}\ndata: {a: x}\n",
		"apiVersion: apps/v1\nkind: Deployment\nmetadata: {name: d}\nspec: {template: {spec: {containers: [{name: x}, {name: x}]}}}\n",
		"a: &a [*a]", "\x00", `{"spec":{"replicas":1e400}}`,
	} {
		for kind := range byte(4) {
			f.Add(kind, byte(0), []byte(seed))
			f.Add(kind, byte(5), []byte(seed))
		}
	}
	f.Fuzz(func(t *testing.T, kind, choice byte, data []byte) {
		i := int(choice) & 1
		r, live := resources[i], lives[i]
		kinds := patch.PatchTypes(r, "")
		contentType := kinds[int(kind)%len(kinds)]
		q := request(r, "d", noon)
		if choice&2 != 0 {
			q.Subresource = types.Status
		} else if choice&4 != 0 {
			q.Subresource = types.Scale
		}
		o := &metav1.PatchOptions{FieldManager: "f", FieldValidation: []string{"", "Ignore", "Strict"}[int(choice>>3)%3]}
		if contentType == "application/apply-patch+yaml" {
			force := choice&64 != 0
			o.Force = &force
		}
		before := live.DeepCopyObject()
		given := live
		if choice&128 != 0 {
			given = nil
		}
		w := patch.NewWriter()
		result, err := w.Patch(q, given, contentType, slices.Clone(data), o)
		if !reflect.DeepEqual(live, before) {
			t.Fatalf("the live object was changed by %q", data)
		}
		if err != nil {
			return
		}
		if m, ok := result.Object.(metav1.Object); !ok || m.GetName() != "d" || m.GetNamespace() != q.Namespace {
			t.Fatalf("%q resulted in %v", data, result.Object)
		}
	})
}

// FuzzBody throws arbitrary bytes at create and update.
func FuzzBody(f *testing.F) {
	resources, lives := fuzzTargets(f)
	for _, seed := range []string{
		deployment, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"d"},"data":{"a":"1"}}`, `{"kind":"ConfigMap"}`, `null`, `[]`, `{`,
		"kind: ConfigMap\napiVersion: v1\nmetadata: {name: d, generateName: x-}\n", "k8s\x00\n\x0a", `{"kind":"ConfigMap","apiVersion":"v1","metadata":7}`,
	} {
		for media := range byte(3) {
			f.Add(media, byte(0), []byte(seed))
			f.Add(media, byte(7), []byte(seed))
		}
	}
	media := []string{types.JSON, types.YAML, types.Protobuf}
	f.Fuzz(func(t *testing.T, kind, choice byte, data []byte) {
		i := int(choice) & 1
		r, live := resources[i], lives[i]
		q := request(r, "d", noon)
		w := patch.NewWriter()
		body := types.Body{Data: slices.Clone(data), ContentType: media[int(kind)%3]}
		before := live.DeepCopyObject()
		var err error
		if choice&2 != 0 {
			_, err = w.Create(q, body, &metav1.CreateOptions{FieldValidation: []string{"", "Strict"}[int(choice>>2)&1]})
		} else {
			_, err = w.Update(q, live, body, &metav1.UpdateOptions{FieldValidation: []string{"", "Ignore"}[int(choice>>2)&1]})
		}
		if !reflect.DeepEqual(live, before) {
			t.Fatalf("the live object was changed by %q (%v)", data, err)
		}
	})
}
