package crd

import (
	"os"
	"reflect"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/types"
)

const widgets = `
apiVersion: apiextensions.k8s.io/v1
kind: CustomResourceDefinition
metadata: {name: widgets.example.com}
spec:
  group: example.com
  scope: Namespaced
  names: {plural: widgets, kind: Widget}
  versions:
  - name: v1beta1
    served: true
    storage: false
    deprecated: true
    schema: {openAPIV3Schema: {type: object, properties: {spec: {type: object, properties: {old: {type: string}, both: {type: integer}}}}}}
  - name: v1
    served: true
    storage: true
    selectableFields: [{jsonPath: .spec.color}]
    additionalPrinterColumns:
    - {name: Both, type: integer, jsonPath: .spec.both}
    - {name: Seen, type: date, jsonPath: .spec.seen}
    schema:
      openAPIV3Schema:
        type: object
        properties:
          spec:
            type: object
            properties:
              both: {type: integer}
              color: {type: string, default: grey}
              seen: {type: string}
              port: {x-kubernetes-int-or-string: true}
              any: {type: object, x-kubernetes-preserve-unknown-fields: true}
              child: {type: object, x-kubernetes-embedded-resource: true, x-kubernetes-preserve-unknown-fields: true}
  - name: v0
    served: false
    storage: false
    schema: {openAPIV3Schema: {type: object}}
`

func resources(t testing.TB, manifest string) []*types.Resource {
	t.Helper()
	definitions, err := LoadManifests(strings.NewReader(manifest))
	if err != nil {
		t.Fatal(err)
	}
	all, err := Compile(definitions...)
	if err != nil {
		t.Fatal(err)
	}
	return all
}

func TestLoadManifestsReadsEveryForm(t *testing.T) {
	crds, err := os.ReadFile("../../../internal/probe/resources/crds.yaml")
	if err != nil {
		t.Fatal(err)
	}
	one := strings.Split(string(crds), "\n---\n")[0]
	indented := strings.ReplaceAll(strings.TrimSpace(one), "\n", "\n  ")
	for name, c := range map[string]struct {
		text  string
		count int
	}{
		"documents":       {string(crds), 2},
		"empty documents": {"---\n---\n" + one + "\n---\n", 1},
		"list":            {"apiVersion: v1\nkind: List\nitems:\n- " + indented + "\n", 1},
		"typed list":      {"apiVersion: apiextensions.k8s.io/v1\nkind: CustomResourceDefinitionList\nitems:\n- " + indented + "\n", 1},
		"json":            {`{"apiVersion":"apiextensions.k8s.io/v1","kind":"CustomResourceDefinition","metadata":{"name":"as.b.c"},"spec":{"group":"b.c","scope":"Cluster","names":{"plural":"as","kind":"A"},"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object"}}}]}}`, 1},
		"nothing":         {"", 0},
	} {
		all, err := LoadManifests(strings.NewReader(c.text))
		if err != nil || len(all) != c.count {
			t.Errorf("%s: %d definitions, %v", name, len(all), err)
			continue
		}
		for _, d := range all {
			if d.Spec.Names.ListKind == "" || d.Spec.Names.Singular == "" || d.Spec.Conversion == nil {
				t.Errorf("%s: %s has no defaults: %+v", name, d.Name, d.Spec.Names)
			}
		}
	}
}

func TestLoadManifestsErrors(t *testing.T) {
	for text, want := range map[string]string{
		"kind: ConfigMap\nmetadata: {name: c}\n": `document 1: ConfigMap "c" is not a CustomResourceDefinition`,
		"---\n" + widgets + "---\n7\n":           "document 2: is not an object",
		"a: [":                                   "document 1 is neither YAML nor JSON",
		strings.Replace(widgets, "apiextensions.k8s.io/v1", "apiextensions.k8s.io/v1beta1", 1):                   `has apiVersion "apiextensions.k8s.io/v1beta1"; write it as apiextensions.k8s.io/v1`,
		strings.Replace(widgets, "name: widgets.example.com", "name: gadgets.example.com", 1):                    "metadata.name: Invalid value",
		strings.Replace(widgets, "scope: Namespaced", "scope: Global", 1):                                        "spec.scope: Unsupported value",
		strings.Replace(widgets, "storage: true", "storage: false", 1):                                           "must have exactly one version marked as storage version",
		strings.Replace(widgets, "color: {type: string, default: grey}", "color: {default: 7, type: string}", 1): "default: Invalid value",
	} {
		_, err := LoadManifests(strings.NewReader(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.60q…: %v, want %s", text, err, want)
		}
	}
}

func TestVersionsConvertByNone(t *testing.T) {
	all := resources(t, widgets)
	if len(all) != 2 || all[0].Version != "v1beta1" || all[1].Version != "v1" {
		t.Fatalf("served are %v", all)
	}
	for _, r := range all {
		if r.StorageVersion != "v1" || r.Kind != "Widget" || r.ListKind != "WidgetList" || r.Singular != "widget" {
			t.Errorf("%+v", r)
		}
	}
	if want := "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget"; all[0].Deprecated != want || all[1].Deprecated != "" {
		t.Errorf("warnings %q and %q", all[0].Deprecated, all[1].Deprecated)
	}
	obj, warnings, err := all[0].Decode(types.Body{Data: []byte(`{"apiVersion":"example.com/v1beta1","kind":"Widget","metadata":{"name":"a"},"spec":{"old":"x","both":1}}`)}, "")
	if err != nil || len(warnings) > 0 {
		t.Fatal(warnings, err)
	}
	before := obj.DeepCopyObject()
	stored, err := all[1].Strategy.Convert(obj)
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"apiVersion": "example.com/v1", "kind": "Widget", "metadata": map[string]any{"name": "a"}, "spec": map[string]any{"both": int64(1), "color": "grey"}}
	if got := stored.(*unstructured.Unstructured).Object; !reflect.DeepEqual(got, want) {
		t.Errorf("converted to %v", got)
	}
	if !reflect.DeepEqual(obj, before) {
		t.Error("conversion changed its input")
	}
	if same, err := all[1].Strategy.Convert(stored); err != nil || same != stored {
		t.Errorf("conversion to the same version copies the object (%v)", err)
	}
}

func TestSchemasWithoutTypes(t *testing.T) {
	r := resources(t, widgets)[1]
	for _, c := range []struct {
		spec string
		ok   bool
	}{
		{`{"port":80}`, true}, {`{"port":"http"}`, true}, {`{"port":true}`, false}, {`{"any":{"x":{"y":[1]}}}`, true},
		{`{"child":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"p"},"spec":{"x":1}}}`, true},
		{`{"child":{"kind":"Pod"}}`, false}, {`{"child":{"apiVersion":"v1","kind":"Pod","metadata":{"name":"a/b"}}}`, false},
	} {
		obj, _, err := r.Decode(types.Body{Data: []byte(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"a"},"spec":` + c.spec + `}`)}, "")
		if err != nil {
			t.Fatal(err)
		}
		_, err = r.BeforeCreate(obj, types.System{Namespace: "ns", UID: "u"})
		if (err == nil) != c.ok {
			t.Errorf("%s: %v", c.spec, err)
		}
	}
}

// Ages are as of the given time, and columns are the version's.
func TestTableOfVirtualTime(t *testing.T) {
	r := resources(t, widgets)[1]
	now := time.Date(2001, 1, 1, 0, 10, 0, 0, time.UTC)
	u := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "a"}, "spec": map[string]any{"both": int64(3), "seen": "2001-01-01T00:00:00Z"}}}
	bad := &unstructured.Unstructured{Object: map[string]any{"metadata": map[string]any{"name": "b"}, "spec": map[string]any{"seen": "yesterday"}}}
	for range 2 { // the second time uses what the first has cached
		for _, c := range []struct {
			obj  runtime.Object
			want []any
		}{{u, []any{"a", int64(3), "10m"}}, {bad, []any{"b", nil, "<invalid>"}}} {
			table, err := r.Strategy.Table(c.obj, &metav1.TableOptions{}, now)
			if err != nil || !reflect.DeepEqual(table.Rows[0].Cells, c.want) {
				t.Errorf("row %v, %v", table, err)
			}
			if d := table.ColumnDefinitions; len(d) != 3 || d[2].Type != "date" || d[1].Type != "integer" {
				t.Errorf("columns %+v", d)
			}
		}
	}
	if got := r.Strategy.Field(u, "spec.both"); got != "3" {
		t.Errorf("the field is %q", got)
	}
	if got := r.Strategy.Field(u, "spec.color"); got != "" || !r.Selectable("spec.color") || r.Selectable("spec.both") {
		t.Errorf("the absent field is %q", got)
	}
}

func TestOpenAPIDescribesTheVersion(t *testing.T) {
	for _, r := range resources(t, widgets) {
		document, err := r.Strategy.OpenAPI()
		if err != nil {
			t.Fatal(err)
		}
		if document.Paths.Paths["/apis/example.com/"+r.Version+"/namespaces/{namespace}/widgets/{name}"] == nil {
			t.Errorf("%s: no path of an object", r)
		}
		if document.Components.Schemas["com.example."+r.Version+".Widget"] == nil {
			t.Errorf("%s: no schema", r)
		}
	}
}

func BenchmarkCompile(b *testing.B) {
	definitions, err := LoadManifests(strings.NewReader(widgets))
	if err != nil {
		b.Fatal(err)
	}
	for b.Loop() {
		if _, err := Compile(definitions...); err != nil {
			b.Fatal(err)
		}
	}
}
