package discovery

import (
	"fmt"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/intstr"
	clientscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// refPrefix precedes schema names in references of a version 3 document.
const refPrefix = "#/components/schemas/"

// schemas generates the OpenAPI schemas of Go types, each once, with everything that they refer to.
type schemas struct {
	done  map[string]*spec.Schema
	kinds map[reflect.Type][]any // x-kubernetes-group-version-kind
	// learned has the schemas of kinds with documents of their own.
	learned map[schema.GroupVersionKind]string
}

// newSchemas returns an empty set. It looks up the kinds of the scheme once.
func newSchemas() *schemas {
	s := &schemas{done: map[string]*spec.Schema{}, kinds: map[reflect.Type][]any{}}
	for _, gv := range clientscheme.Scheme.PrioritizedVersionsAllGroups() {
		known := clientscheme.Scheme.KnownTypes(gv)
		names := make([]string, 0, len(known))
		for kind := range known { // order: sorted below
			names = append(names, kind)
		}
		slices.Sort(names)
		for _, kind := range names {
			s.kinds[known[kind]] = append(s.kinds[known[kind]], map[string]any{"group": gv.Group, "version": gv.Version, "kind": kind})
		}
	}
	return s
}

// modelNamer is implemented by every API type.
type modelNamer interface{ OpenAPIModelName() string }

// ownSchema is implemented by types whose JSON does not follow from their fields.
type ownSchema interface {
	OpenAPISchemaType() []string
	OpenAPISchemaFormat() string
}

// documented is implemented by types that describe their fields; "" describes the type.
type documented interface{ SwaggerDoc() map[string]string }

// modelName returns the name of a struct's schema; "" for types without one, which are inlined.
func modelName(t reflect.Type) string {
	if n, ok := reflect.Zero(t).Interface().(modelNamer); ok {
		return n.OpenAPIModelName()
	}
	if n, ok := reflect.New(t).Interface().(modelNamer); ok {
		return n.OpenAPIModelName()
	}
	return ""
}

// add adds the schema of a Go type, if it is missing, and returns its name.
func (s *schemas) add(t reflect.Type) string {
	name := modelName(t)
	if name == "" || s.done[name] != nil {
		return name
	}
	out := &spec.Schema{}
	s.done[name] = out // before its fields, which may refer to it
	*out = *s.ofStruct(t)
	if kinds := s.kinds[t]; kinds != nil {
		out.AddExtension("x-kubernetes-group-version-kind", kinds)
	}
	return name
}

var (
	intOrString  = reflect.TypeFor[intstr.IntOrString]()
	rawExtension = reflect.TypeFor[runtime.RawExtension]()
	fieldsV1     = reflect.TypeFor[metav1.FieldsV1]()
	bytesType    = reflect.TypeFor[[]byte]()
)

// ofStruct returns the schema of a named type.
func (s *schemas) ofStruct(t reflect.Type) *spec.Schema {
	out := &spec.Schema{}
	docs := docsOf(t)
	out.Description = docs[""]
	switch own, isOwn := reflect.Zero(t).Interface().(ownSchema); {
	case t == intOrString:
		out.Format = own.OpenAPISchemaFormat()
		out.OneOf = []spec.Schema{*typed("integer", ""), *typed("string", "")}
		return out
	case isOwn:
		out.Type, out.Format = own.OpenAPISchemaType(), own.OpenAPISchemaFormat()
		return out
	case t == rawExtension || t == fieldsV1 || t.Kind() != reflect.Struct:
		out.Type = spec.StringOrArray{"object"}
		if t.Kind() != reflect.Struct {
			d := out.Description
			*out = *s.of(t)
			out.Description = d
		}
		return out
	}
	out.Type = spec.StringOrArray{"object"}
	s.fields(t, docs, out)
	slices.Sort(out.Required)
	return out
}

func docsOf(t reflect.Type) map[string]string {
	if d, ok := reflect.Zero(t).Interface().(documented); ok {
		return d.SwaggerDoc()
	}
	return nil
}

// fields adds a struct's properties, including those of embedded structs.
func (s *schemas) fields(t reflect.Type, docs map[string]string, out *spec.Schema) {
	for i := range t.NumField() {
		f := t.Field(i)
		tag, tagged := f.Tag.Lookup("json")
		name, options, _ := strings.Cut(tag, ",")
		switch {
		case f.PkgPath != "" || name == "-":
			continue
		case name == "" && f.Anonymous:
			s.fields(f.Type, docsOf(f.Type), out)
			continue
		case name == "" || !tagged:
			name = f.Name
		}
		property := s.described(s.of(f.Type), docs[name])
		if v := f.Tag.Get("patchStrategy"); v != "" {
			property.AddExtension("x-kubernetes-patch-strategy", v)
		}
		if v := f.Tag.Get("patchMergeKey"); v != "" {
			property.AddExtension("x-kubernetes-patch-merge-key", v)
		}
		out.SetProperty(name, *property)
		if !strings.Contains(options, "omitempty") && !strings.Contains(options, "omitzero") {
			out.Required = append(out.Required, name)
		}
	}
}

// described adds a description to a property; a reference must stand alone, so it is wrapped.
func (s *schemas) described(p *spec.Schema, text string) *spec.Schema {
	if text == "" {
		return p
	}
	if p.Ref.String() != "" {
		p = &spec.Schema{SchemaProps: spec.SchemaProps{AllOf: []spec.Schema{*p}}}
	}
	p.Description = text
	return p
}

func typed(t, format string) *spec.Schema {
	return &spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{t}, Format: format}}
}

// of returns the schema of a type in use: a reference for named structs.
func (s *schemas) of(t reflect.Type) *spec.Schema {
	if t.Kind() == reflect.Pointer {
		return s.of(t.Elem())
	}
	// Named maps and slices (ResourceList, ExtraValue) are inlined, as in a real server.
	if t.Kind() == reflect.Struct {
		if name := s.add(t); name != "" {
			return &spec.Schema{SchemaProps: spec.SchemaProps{Ref: spec.MustCreateRef(refPrefix + name)}}
		}
	}
	switch t.Kind() {
	case reflect.Bool:
		return typed("boolean", "")
	case reflect.Int32, reflect.Uint32, reflect.Int16, reflect.Uint16, reflect.Int8, reflect.Uint8:
		return typed("integer", "int32")
	case reflect.Int, reflect.Int64, reflect.Uint, reflect.Uint64:
		return typed("integer", "int64")
	case reflect.Float32, reflect.Float64:
		return typed("number", "double")
	case reflect.String:
		return typed("string", "")
	case reflect.Slice, reflect.Array:
		if t == bytesType || t.Elem().Kind() == reflect.Uint8 {
			return typed("string", "byte")
		}
		out := typed("array", "")
		out.Items = &spec.SchemaOrArray{Schema: s.of(t.Elem())}
		return out
	case reflect.Map:
		out := typed("object", "")
		out.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: s.of(t.Elem())}
		return out
	case reflect.Struct:
		return s.ofStruct(t)
	case reflect.Interface:
		return typed("object", "")
	}
	panic(fmt.Sprintf("discovery: a field of type %s has no JSON form", t))
}
