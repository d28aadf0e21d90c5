package crd_test

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
	"github.com/informersim/informersim/internal/probe/resources"
)

const liveGizmo = `{"apiVersion":"conformance.informersim.dev/v1","kind":"Gizmo","metadata":{"name":"d","labels":{"a":"b"},"finalizers":["x.y/z"]},
"spec":{"size":3,"tags":["a"],"ports":[{"name":"p"}],"free":{"x":{"y":1}},"limits":{"cpu":"1"}},"status":{"phase":"New"}}`

// newRegistry has the custom resources of the conformance probes.
func newRegistry(t testing.TB) *types.Registry {
	t.Helper()
	definitions, err := crd.LoadManifests(strings.NewReader(resources.CRDs))
	if err != nil {
		t.Fatal(err)
	}
	custom, err := crd.Compile(definitions...)
	if err != nil {
		t.Fatal(err)
	}
	registry := types.NewRegistry()
	if err := registry.Add(custom...); err != nil {
		t.Fatal(err)
	}
	return registry
}

// gizmos returns the custom resource of the conformance probes, with a live object.
func gizmos(t testing.TB) (*types.Resource, runtime.Object) {
	t.Helper()
	r := newRegistry(t).All()[0]
	result, err := patch.NewWriter().Create(writeTo(r, ""), types.Body{Data: []byte(liveGizmo)}, &metav1.CreateOptions{})
	if err != nil {
		t.Fatal(err)
	}
	result.Object.(metav1.Object).SetResourceVersion("7")
	return r, result.Object
}

func writeTo(r *types.Resource, subresource string) patch.Request {
	return patch.Request{Resource: r, Subresource: subresource, Namespace: "ns", Name: "d", UserAgent: "test/1", System: types.System{UID: "u-1", Now: time.Unix(1e9, 0), Suffix: "bcdfg"}}
}

// anyJSON draws values that a client may send in any place.
func anyJSON(depth int) *rapid.Generator[string] {
	leaf := rapid.SampledFrom([]string{`null`, `0`, `-1`, `1e30`, `1.5`, `true`, `""`, `"x"`, `"\u0000"`, `[]`, `{}`, `9223372036854775808`})
	if depth == 0 {
		return leaf
	}
	keys := rapid.SampledFrom([]string{
		"apiVersion", "kind", "metadata", "spec", "status", "name", "namespace", "labels", "finalizers", "ownerReferences", "managedFields", "resourceVersion",
		"creationTimestamp", "deletionTimestamp", "size", "tags", "ports", "port", "free", "limits", "mode", "fixed", "replicas", "phase", "unknown", "", "$patch", "f:spec",
	})
	return rapid.OneOf(leaf,
		rapid.Custom(func(t *rapid.T) string { return `[` + anyJSON(depth-1).Draw(t, "item") + `]` }),
		rapid.Custom(func(t *rapid.T) string {
			return fmt.Sprintf(`{%q:%s,%q:%s}`, keys.Draw(t, "key"), anyJSON(depth-1).Draw(t, "value"), keys.Draw(t, "key"), anyJSON(depth-1).Draw(t, "value"))
		}))
}

// anyPatch draws a patch of the given type, or something like one.
func anyPatch(contentType string) *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		value := anyJSON(4).Draw(t, "value")
		switch contentType {
		case "application/json-patch+json":
			op := rapid.SampledFrom([]string{"add", "remove", "replace", "move", "copy", "test", "none"}).Draw(t, "op")
			paths := rapid.SampledFrom([]string{"", "/", "/spec", "/spec/size", "/spec/tags/0", "/spec/tags/-", "/spec/tags/9", "/spec/tags/-1", "/metadata", "/metadata/name", "/status", "/~1", "x"})
			return fmt.Sprintf(`[{"op":%q,"path":%q,"from":%q,"value":%s}]`, op, paths.Draw(t, "path"), paths.Draw(t, "from"), value)
		case "application/apply-patch+yaml":
			return fmt.Sprintf(`{"apiVersion":"conformance.informersim.dev/v1","kind":"Gizmo","metadata":{"name":"d"},"spec":%s}`, value)
		}
		return value
	})
}

// Whatever is sent to a custom resource, nothing panics, the live object is unchanged, equal requests have equal outcomes, and
// the result is an object of the same name.
func TestAnyPatchOfACustomResource(t *testing.T) {
	r, live := gizmos(t)
	before := live.DeepCopyObject()
	w := patch.NewWriter() // field managers are slow to build, and stateless
	rapid.Check(t, func(t *rapid.T) {
		contentType := rapid.SampledFrom(patch.PatchTypes(r, "")).Draw(t, "kind")
		data := anyPatch(contentType).Draw(t, "patch")
		q := writeTo(r, rapid.SampledFrom([]string{"", types.Status, types.Scale}).Draw(t, "subresource"))
		o := &metav1.PatchOptions{FieldManager: "f", FieldValidation: rapid.SampledFrom([]string{"", "Ignore", "Strict"}).Draw(t, "validation")}
		given := rapid.SampledFrom([]runtime.Object{live, nil}).Draw(t, "live")
		result, err := w.Patch(q, given, contentType, []byte(data), o)
		again, errAgain := w.Patch(q, given, contentType, []byte(data), o)
		if fmt.Sprint(err) != fmt.Sprint(errAgain) || !reflect.DeepEqual(result, again) {
			t.Fatalf("the same patch had two outcomes\n%v %v\n%v %v", result, err, again, errAgain)
		}
		if !reflect.DeepEqual(live, before) {
			t.Fatal("the live object was changed")
		}
		if err != nil {
			return
		}
		if m := result.Object.(metav1.Object); m.GetName() != "d" || m.GetNamespace() != "ns" {
			t.Fatalf("the result is %v", result.Object)
		}
	})
}

func TestAnyBodyOfACustomResource(t *testing.T) {
	r, live := gizmos(t)
	before := live.DeepCopyObject()
	w := patch.NewWriter()
	rapid.Check(t, func(t *rapid.T) {
		body := types.Body{Data: []byte(fmt.Sprintf(`{"apiVersion":"conformance.informersim.dev/v1","kind":"Gizmo","metadata":{"name":"d"},"spec":%s,"status":%s}`,
			anyJSON(4).Draw(t, "spec"), anyJSON(3).Draw(t, "status")))}
		switch rapid.IntRange(0, 2).Draw(t, "form") {
		case 1:
			body.Data = []byte(anyJSON(5).Draw(t, "body"))
		case 2: // some of its bytes moved
			i := rapid.IntRange(0, len(body.Data)-1).Draw(t, "at")
			body.Data = slices.Concat(body.Data[:i], rapid.SliceOfN(rapid.Byte(), 0, 3).Draw(t, "bytes"), body.Data[i:])
		}
		body.ContentType = rapid.SampledFrom([]string{types.JSON, types.YAML, types.Protobuf, ""}).Draw(t, "type")
		q := writeTo(r, rapid.SampledFrom([]string{"", types.Status, types.Scale}).Draw(t, "subresource"))
		_, err := w.Update(q, live, body, &metav1.UpdateOptions{})
		_, errAgain := w.Update(q, live, body, &metav1.UpdateOptions{})
		if fmt.Sprint(err) != fmt.Sprint(errAgain) {
			t.Fatalf("the same body had two outcomes\n%v\n%v", err, errAgain)
		}
		q.Name, q.Subresource = "", ""
		if result, err := w.Create(q, body, &metav1.CreateOptions{}); err == nil && result.Object == nil {
			t.Fatal("a create returned neither an object nor an error")
		}
		if !reflect.DeepEqual(live, before) {
			t.Fatal("the live object was changed")
		}
	})
}

func BenchmarkCreate(b *testing.B) {
	r, _ := gizmos(b)
	w := patch.NewWriter()
	for b.Loop() {
		if _, err := w.Create(writeTo(r, ""), types.Body{Data: []byte(liveGizmo)}, &metav1.CreateOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkMergePatch(b *testing.B) {
	r, live := gizmos(b)
	w := patch.NewWriter()
	for b.Loop() {
		if _, err := w.Patch(writeTo(r, ""), live, "application/merge-patch+json", []byte(`{"spec":{"size":4}}`), &metav1.PatchOptions{}); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkApply(b *testing.B) {
	r, live := gizmos(b)
	w := patch.NewWriter()
	body := []byte(`{"apiVersion":"conformance.informersim.dev/v1","kind":"Gizmo","metadata":{"name":"d"},"spec":{"color":"red"}}`)
	for b.Loop() {
		if _, err := w.Patch(writeTo(r, ""), live, "application/apply-patch+yaml", body, &metav1.PatchOptions{FieldManager: "m"}); err != nil {
			b.Fatal(err)
		}
	}
}
