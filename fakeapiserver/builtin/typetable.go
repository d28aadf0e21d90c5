package builtin

import (
	_ "embed"
	"encoding/json"
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
)

// typetable.txt has what client-go's apply configurations say of types: which fields they have, and how lists and maps merge. Each line is the
// name of a type and its definition. client-go has it in one YAML document, and to parse that takes half as long as all else that
// a kube-apiserver of envtest's does until it is ready; a line is parsed when a kind first needs it.
//
//go:embed typetable.txt
var typetable string

// typeTable is a [managedfields.TypeConverter] for all built-in kinds.
type typeTable struct {
	lines map[string]string // the definitions, by name; nil before the first use
	kinds map[schema.GroupVersionKind]managedfields.TypeConverter
}

func newTypeTable() *typeTable {
	return &typeTable{kinds: map[schema.GroupVersionKind]managedfields.TypeConverter{}}
}

// ObjectToTyped returns an object with the types of its kind. Two of one kind have the same ones, so that they can be compared.
func (t *typeTable) ObjectToTyped(obj runtime.Object, o ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return t.of(obj.GetObjectKind().GroupVersionKind()).ObjectToTyped(obj, o...)
}

// TypedToObject is the reverse. It needs no types.
func (t *typeTable) TypedToObject(v *typed.TypedValue) (runtime.Object, error) {
	return managedfields.NewDeducedTypeConverter().TypedToObject(v)
}

// of returns the converter of a kind. It has an error for an object whose kind the table lacks.
func (t *typeTable) of(kind schema.GroupVersionKind) managedfields.TypeConverter {
	if t.kinds[kind] == nil {
		parser := &typed.Parser{}
		if name, err := clientscheme.Scheme.ToOpenAPIDefinitionName(kind); err == nil {
			parser = t.parser(name)
		}
		t.kinds[kind] = managedfields.NewSchemeTypeConverter(clientscheme.Scheme, parser)
	}
	return t.kinds[kind]
}

// oneGroup is a typeTable without the types of other groups. A kube-apiserver has one for the core group and one for all others, which shows
// for the one kind that both serve: what an applier has owned of an Event in the other group stays when he no longer applies it.
type oneGroup struct {
	*typeTable
	group string
}

// noTypes knows no kind. Its error makes the managedfields library leave alone what is of that kind.
var noTypes = func() managedfields.TypeConverter {
	none, err := managedfields.NewTypeConverter(nil, false)
	if err != nil {
		panic("builtin: " + err.Error()) // cannot happen: there is nothing that could be wrong
	}
	return none
}()

// ObjectToTyped returns an object with the types of its kind; an error if its group is another.
func (o oneGroup) ObjectToTyped(obj runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	if obj.GetObjectKind().GroupVersionKind().Group != o.group {
		return noTypes.ObjectToTyped(obj, options...)
	}
	return o.typeTable.ObjectToTyped(obj, options...)
}

// parser returns a parser that knows a type and all that it refers to.
func (t *typeTable) parser(name string) *typed.Parser {
	if t.lines == nil {
		t.lines = make(map[string]string, strings.Count(typetable, "\n"))
		for line := range strings.Lines(typetable) {
			name, definition, _ := strings.Cut(line, " ")
			t.lines[name] = definition
		}
	}
	var all []smd.TypeDef
	names, seen := []string{name}, map[string]bool{name: true}
	refer := func(name string) {
		if !seen[name] {
			seen[name], names = true, append(names, name)
		}
	}
	for i := 0; i < len(names); i++ {
		line, ok := t.lines[names[i]]
		if !ok {
			continue // the library says so when it meets one
		}
		var a typeAtom
		decoder := json.NewDecoder(strings.NewReader(line))
		decoder.UseNumber()
		if err := decoder.Decode(&a); err != nil {
			panic(fmt.Sprintf("builtin: typetable.txt: %s: %v", names[i], err)) // cannot happen: it is embedded, and a test reads all of it
		}
		all = append(all, smd.TypeDef{Name: names[i], Atom: a.atom(refer)})
	}
	return &typed.Parser{Schema: smd.Schema{Types: all}}
}

// typeAtom is a definition in the table.
type typeAtom struct {
	Scalar smd.Scalar `json:"scalar,omitempty"`
	List   *typeList  `json:"list,omitempty"`
	Map    *typeMap   `json:"map,omitempty"`
}

type typeList struct {
	Of    typeRef                 `json:"of"`
	Merge smd.ElementRelationship `json:"merge"`
	Keys  []string                `json:"keys,omitempty"`
}

type typeMap struct {
	Fields []typeField             `json:"fields,omitempty"`
	Of     typeRef                 `json:"of,omitzero"`
	Merge  smd.ElementRelationship `json:"merge,omitempty"`
}

type typeField struct {
	Name    string  `json:"name"`
	Type    typeRef `json:"type"`
	Default any     `json:"default,omitempty"`
}

// typeRef is a definition, or the name of one.
type typeRef struct {
	Name string `json:"name,omitempty"`
	typeAtom
	Merge smd.ElementRelationship `json:"merge,omitempty"` // in place of the definition's
}

// atom returns the library's form. refer is told the names of types.
func (a typeAtom) atom(refer func(string)) smd.Atom {
	var to smd.Atom
	if a.Scalar != "" {
		to.Scalar = &a.Scalar
	}
	if l := a.List; l != nil {
		to.List = &smd.List{ElementType: l.Of.ref(refer), ElementRelationship: l.Merge, Keys: l.Keys}
	}
	if m := a.Map; m != nil {
		to.Map = &smd.Map{ElementType: m.Of.ref(refer), ElementRelationship: m.Merge}
		for _, f := range m.Fields {
			to.Map.Fields = append(to.Map.Fields, smd.StructField{Name: f.Name, Type: f.Type.ref(refer), Default: fromYAML(f.Default)})
		}
	}
	return to
}

func (r typeRef) ref(refer func(string)) smd.TypeRef {
	to := smd.TypeRef{Inlined: r.atom(refer)}
	if r.Name != "" {
		to.NamedType = &r.Name
		refer(r.Name)
	}
	if r.Merge != "" {
		to.ElementRelationship = &r.Merge
	}
	return to
}

// fromYAML returns a default as the library has it, whose parser is one of YAML. It shows in the keys of list items.
func fromYAML(v any) any {
	switch v := v.(type) {
	case json.Number:
		if n, err := v.Int64(); err == nil {
			return int(n)
		}
		n, _ := v.Float64() // it was one
		return n
	case map[string]any:
		to := map[any]any{}
		for name, v := range v { // order: a copy into a map
			to[name] = fromYAML(v)
		}
		return to
	case []any:
		to := make([]any, 0, len(v))
		for _, v := range v {
			to = append(to, fromYAML(v))
		}
		return to
	}
	return v
}
