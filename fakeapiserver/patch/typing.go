package patch

import (
	"errors"
	"maps"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"
	"sigs.k8s.io/structured-merge-diff/v6/value"
)

// An apply configuration that does not match its schema is rejected with the first mismatch that the library finds, and it walks
// maps. So a rejected configuration is validated once more over values whose maps are walked in order, and the same
// configuration always gets the same error.

// How such an error begins, and the end of its description of the object.
const (
	typingError = "failed to create typed patch object ("
	typingCause = "): "
)

// firstCause returns err with the cause that comes first in the order of keys, if err is about types.
func firstCause(err error, c managedfields.TypeConverter, wanted *unstructured.Unstructured) error {
	text := err.Error()
	end := strings.Index(text, typingCause)
	if !strings.HasPrefix(text, typingError) || end < 0 {
		return err
	}
	bare := &unstructured.Unstructured{}
	bare.SetGroupVersionKind(wanted.GroupVersionKind())
	known, knownErr := c.ObjectToTyped(bare)
	if knownErr != nil {
		return err
	}
	_, cause := typed.AsTyped(&orderedValue{wanted.Object}, known.Schema(), known.TypeRef())
	if cause == nil {
		return err
	}
	// Some messages show the Go type of a value.
	message := strings.ReplaceAll(cause.Error(), "&patch.orderedValue{", "&value.valueUnstructured{")
	return errors.New(text[:end] + typingCause + message)
}

// orderedValue is a JSON value whose maps are walked in the order of their keys. Its only field is named like the library's, for
// error messages.
type orderedValue struct{ Value any }

func (o *orderedValue) plain() value.Value { return value.NewValueInterface(o.Value) }

func (o *orderedValue) IsMap() bool       { return o.plain().IsMap() }
func (o *orderedValue) IsList() bool      { return o.plain().IsList() }
func (o *orderedValue) IsBool() bool      { return o.plain().IsBool() }
func (o *orderedValue) IsInt() bool       { return o.plain().IsInt() }
func (o *orderedValue) IsFloat() bool     { return o.plain().IsFloat() }
func (o *orderedValue) IsString() bool    { return o.plain().IsString() }
func (o *orderedValue) IsNull() bool      { return o.plain().IsNull() }
func (o *orderedValue) AsBool() bool      { return o.plain().AsBool() }
func (o *orderedValue) AsInt() int64      { return o.plain().AsInt() }
func (o *orderedValue) AsFloat() float64  { return o.plain().AsFloat() }
func (o *orderedValue) AsString() string  { return o.plain().AsString() }
func (o *orderedValue) Unstructured() any { return o.Value }

func (o *orderedValue) AsMap() value.Map {
	m, _ := o.Value.(map[string]any)
	return orderedMap{o.plain().AsMap(), m}
}

func (o *orderedValue) AsMapUsing(value.Allocator) value.Map { return o.AsMap() }

func (o *orderedValue) AsList() value.List {
	l, _ := o.Value.([]any)
	return orderedList{o.plain().AsList(), l}
}

func (o *orderedValue) AsListUsing(value.Allocator) value.List { return o.AsList() }

// orderedMap is the library's map, walked in order.
type orderedMap struct {
	value.Map
	content map[string]any
}

func (m orderedMap) Iterate(f func(string, value.Value) bool) bool {
	for _, key := range slices.Sorted(maps.Keys(m.content)) {
		if !f(key, &orderedValue{m.content[key]}) {
			return false
		}
	}
	return true
}

func (m orderedMap) IterateUsing(_ value.Allocator, f func(string, value.Value) bool) bool {
	return m.Iterate(f)
}

// orderedList is the library's list, of ordered values.
type orderedList struct {
	value.List
	content []any
}

func (l orderedList) At(i int) value.Value { return &orderedValue{l.content[i]} }

func (l orderedList) AtUsing(_ value.Allocator, i int) value.Value { return l.At(i) }
