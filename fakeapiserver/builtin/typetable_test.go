package builtin

import (
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"reflect"
	"slices"
	"strings"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"k8s.io/client-go/applyconfigurations"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
)

var rewrite = flag.Bool("rewrite", false, "write typetable.txt anew")

// schemaOf returns what a converter of types knows, and the name of an object's type.
func schemaOf(t *testing.T, c managedfields.TypeConverter, kind schema.GroupVersionKind) (*smd.Schema, string) {
	t.Helper()
	bare := &unstructured.Unstructured{}
	bare.SetGroupVersionKind(kind)
	v, err := c.ObjectToTyped(bare)
	if err != nil {
		t.Fatalf("%s: %v", kind, err)
	}
	return v.Schema(), *v.TypeRef().NamedType
}

// TestTypeTable compares the table with the document that it was made of.
func TestTypeTable(t *testing.T) {
	library := applyconfigurations.NewTypeConverter(clientscheme.Scheme)
	all, _ := schemaOf(t, library, schema.GroupVersionKind{Version: "v1", Kind: "Pod"})
	var lines []string
	for _, d := range all.Types {
		text, err := json.Marshal(wireAtom(d.Atom))
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, fmt.Sprintf("%s %s\n", d.Name, text))
	}
	want := strings.Join(lines, "")
	if *rewrite {
		if err := os.WriteFile("typetable.txt", []byte(want), 0o666); err != nil {
			t.Fatal(err)
		}
		typetable = want
	}
	if typetable != want {
		t.Fatal("typetable.txt is not what client-go has: write it anew with go test ./fakeapiserver/builtin -run TypeTable -rewrite")
	}
	table, kinds := newTypeTable(), 0
	for kind := range clientscheme.Scheme.AllKnownTypes() { // order: each is compared for itself
		name, err := clientscheme.Scheme.ToOpenAPIDefinitionName(kind)
		if _, known := all.FindNamedType(name); err != nil || !known {
			continue // a list, or options of a request
		}
		kinds++
		ours, root := schemaOf(t, table, kind)
		if root != name {
			t.Errorf("the type of %s is %s, want %s", kind, root, name)
		}
		compareTypes(t, all, ours, kind)
	}
	if kinds < 100 {
		t.Errorf("only %d kinds were compared", kinds)
	}
}

// compareTypes compares the definition of each type that a kind needs.
func compareTypes(t *testing.T, all, ours *smd.Schema, kind schema.GroupVersionKind) {
	t.Helper()
	for _, d := range ours.Types {
		want, ok := all.FindNamedType(d.Name)
		if !ok {
			t.Errorf("%s: there is no type %s", kind, d.Name)
			continue
		}
		if ours, want := wireAtom(d.Atom), wireAtom(want.Atom); !reflect.DeepEqual(ours, want) {
			t.Errorf("%s: %s is %+v, want %+v", kind, d.Name, ours, want)
		}
		for _, name := range namesIn(d.Atom) {
			if _, ok := ours.FindNamedType(name); !ok {
				t.Errorf("%s lacks %s, which %s refers to", kind, name, d.Name)
			}
		}
	}
}

// namesIn returns the types that a definition refers to.
func namesIn(a smd.Atom) []string {
	var refs []smd.TypeRef
	if a.List != nil {
		refs = append(refs, a.List.ElementType)
	}
	if a.Map != nil {
		refs = append(refs, a.Map.ElementType)
		for _, f := range a.Map.Fields {
			refs = append(refs, f.Type)
		}
	}
	var names []string
	for _, r := range refs {
		if r.NamedType != nil {
			names = append(names, *r.NamedType)
		}
		names = append(names, namesIn(r.Inlined)...)
	}
	return names
}

func TestTypeTableLacksAKind(t *testing.T) {
	bare := &unstructured.Unstructured{}
	bare.SetGroupVersionKind(schema.GroupVersionKind{Group: "example.com", Version: "v1", Kind: "Nothing"})
	_, want := applyconfigurations.NewTypeConverter(clientscheme.Scheme).ObjectToTyped(bare)
	if _, err := newTypeTable().ObjectToTyped(bare); err == nil || want == nil || err.Error() != want.Error() {
		t.Errorf("of an unknown kind it says %v, want %v", err, want)
	}
}

// wireAtom returns the table's form of a definition. It has no unions, which nothing reads.
func wireAtom(a smd.Atom) typeAtom {
	var to typeAtom
	if a.Scalar != nil {
		to.Scalar = *a.Scalar
	}
	if l := a.List; l != nil {
		to.List = &typeList{Of: wireRef(l.ElementType), Merge: l.ElementRelationship, Keys: slices.Clone(l.Keys)}
	}
	if m := a.Map; m != nil {
		to.Map = &typeMap{Of: wireRef(m.ElementType), Merge: m.ElementRelationship}
		for _, f := range m.Fields {
			to.Map.Fields = append(to.Map.Fields, typeField{Name: f.Name, Type: wireRef(f.Type), Default: toJSON(f.Default)})
		}
	}
	return to
}

func wireRef(r smd.TypeRef) typeRef {
	to := typeRef{typeAtom: wireAtom(r.Inlined)}
	if r.NamedType != nil {
		to.Name = *r.NamedType
	}
	if r.ElementRelationship != nil {
		to.Merge = *r.ElementRelationship
	}
	return to
}

// toJSON is the reverse of fromYAML.
func toJSON(v any) any {
	switch v := v.(type) {
	case map[any]any:
		to := map[string]any{}
		for name, v := range v { // order: a copy into a map
			to[name.(string)] = toJSON(v)
		}
		return to
	case []any:
		to := []any{}
		for _, v := range v {
			to = append(to, toJSON(v))
		}
		return to
	}
	return v
}
