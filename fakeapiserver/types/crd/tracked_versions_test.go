package crd_test

import (
	"reflect"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/patch"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
)

const lamps = `{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"lamps.example.com"},"spec":{"group":"example.com","scope":"Namespaced",
"names":{"plural":"lamps","singular":"lamp","kind":"Lamp","listKind":"LampList"},
"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://example.com"}}},"versions":[
{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"color":{"type":"string"}}}}}}},
{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"red":{"type":"boolean"},"blue":{"type":"boolean"}}}}}}}]}}`

// paint converts lamps: version 1 has a color, version 2 a field for red and one for blue.
type paint struct{}

func (paint) NewConverter(*apiextensionsv1.CustomResourceDefinition) (safe, unsafe runtime.ObjectConvertor, err error) {
	return paint{}, paint{}, nil
}

func (paint) Convert(_, _, _ any) error { panic("not used") }

func (paint) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (paint) ConvertToVersion(in runtime.Object, to runtime.GroupVersioner) (runtime.Object, error) {
	u := in.DeepCopyObject().(*unstructured.Unstructured)
	gvk, _ := to.KindForGroupVersionKinds([]schema.GroupVersionKind{u.GroupVersionKind()})
	if gvk.Version == "" {
		gvk = schema.GroupVersionKind{Group: "example.com", Version: to.Identifier()[strings.LastIndex(to.Identifier(), "/")+1:], Kind: "Lamp"}
	}
	spec, _, _ := unstructured.NestedMap(u.Object, "spec")
	if color, ok := spec["color"].(string); ok && gvk.Version == "v2" {
		if color == "crimson" {
			color = "red"
		}
		u.Object["spec"] = map[string]any{color: true}
	}
	for color := range spec { // order: a lamp has one color
		if gvk.Version == "v1" && color != "color" {
			u.Object["spec"] = map[string]any{"color": color}
		}
	}
	u.SetGroupVersionKind(gvk)
	return u, nil
}

// What becomes of the fields that were set in another version depends on what a webhook makes of values, so one write says nothing about a similar one.
func TestFieldsOfAnotherVersionAreConverted(t *testing.T) {
	definitions, err := crd.LoadManifests(strings.NewReader(lamps))
	if err != nil {
		t.Fatal(err)
	}
	versions, err := crd.CompileWith(paint{}, definitions...)
	if err != nil {
		t.Fatal(err)
	}
	request := func(r *types.Resource, name string) patch.Request {
		q := writeTo(r, "")
		q.Name = name
		return q
	}
	made, err := patch.NewWriter().Create(request(versions[1], ""), types.Body{Data: []byte(`{"apiVersion":"example.com/v2","kind":"Lamp","metadata":{"name":"d"},"spec":{"red":true}}`)}, &metav1.CreateOptions{FieldManager: "new"})
	if err != nil {
		t.Fatal(err)
	}
	made.Object.(metav1.Object).SetResourceVersion("7")
	known := patch.NewWriter()
	for _, color := range []string{"crimson", "blue"} { // crimson is red, too
		body := types.Body{Data: []byte(`{"apiVersion":"example.com/v1","kind":"Lamp","metadata":{"name":"d","resourceVersion":"7"},"spec":{"color":"` + color + `"}}`)}
		got, err := known.Update(request(versions[0], "d"), made.Object, body, &metav1.UpdateOptions{FieldManager: "old"})
		want, wantErr := patch.NewWriter().Update(request(versions[0], "d"), made.Object, body, &metav1.UpdateOptions{FieldManager: "old"})
		if err != nil || wantErr != nil {
			t.Fatal(color, err, wantErr)
		}
		if !reflect.DeepEqual(got.Object, want.Object) {
			t.Errorf("%s: managedFields are\n%v\nwant\n%v", color, got.Object.(metav1.Object).GetManagedFields(), want.Object.(metav1.Object).GetManagedFields())
		}
	}
}
