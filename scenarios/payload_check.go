package scenarios

import (
	"bytes"
	"encoding"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/scenarios/script"
)

// payloadCheck finds fields of a payload that its type does not have, and fields that are given twice. encoding/json drops the
// former and lets the last of the latter win, and the scenario would then test something else than it says. Names are compared
// with their case, as an apiserver does.
type payloadCheck struct {
	command *script.Command
	kind    string
	in      *json.Decoder
	types   fieldCache
	errs    []error
}

// fieldCache are the fields of the types that the payloads of a scenario have had so far. To find them takes longer than to read
// most payloads.
type fieldCache map[reflect.Type]jsonFields

// checkObject checks the payload of a write to a declared resource. Of a kind without a Go type only the metadata is known.
func (d *declarations) checkObject(s *script.Command, plural string, res *store.Resource) error {
	t, known := d.types[plural]
	if !known {
		t = reflect.TypeFor[unknownKind]()
		if res.New != nil {
			t = reflect.TypeOf(res.New())
		}
		d.types[plural] = t
	}
	return checkPayload(s, res.Kind, t, d.fields)
}

// checkPayload checks a payload that is to be decoded into a type; nil if only its form is to be checked.
func checkPayload(s *script.Command, kind string, t reflect.Type, types fieldCache) error {
	c := &payloadCheck{command: s, kind: kind, in: json.NewDecoder(bytes.NewReader(s.Payload)), types: types}
	c.in.UseNumber()
	c.value(t, "")
	return script.Join(c.errs...)
}

// unknownKind describes an object without a Go type: only its metadata is known.
type unknownKind struct {
	metav1.ObjectMeta `json:"metadata"`
	others
}

// others makes a struct take any further field.
type others struct{}

// pos is the place of the next token of the payload.
func (c *payloadCheck) pos() script.Pos {
	off := int(c.in.InputOffset())
	for off < len(c.command.Payload) && bytes.IndexByte([]byte(" \t\r\n,:"), c.command.Payload[off]) >= 0 {
		off++
	}
	return payloadPos(c.command, off)
}

// payloadPos is the place in the script of a byte of a payload.
func payloadPos(s *script.Command, off int) script.Pos {
	pos, before := s.PayloadPos, s.Payload[:min(max(off, 0), len(s.Payload))]
	if n := bytes.Count(before, []byte("\n")); n > 0 {
		pos.Line += n
		pos.Column = len(before) - bytes.LastIndexByte(before, '\n')
		return pos
	}
	pos.Column += len(before)
	return pos
}

// value reads a value that is to be decoded into a type; nil is any type.
func (c *payloadCheck) value(t reflect.Type, path string) {
	token, err := c.in.Token()
	if err != nil {
		return // the parser of the script has found it to be JSON
	}
	switch token {
	case json.Delim('{'):
		c.object(t, path)
	case json.Delim('['):
		elem := elemOf(t, reflect.Slice)
		for i := 0; c.in.More(); i++ {
			c.value(elem, fmt.Sprintf("%s[%d]", path, i))
		}
		_, _ = c.in.Token() // the closing bracket
	}
}

func (c *payloadCheck) object(t reflect.Type, path string) {
	fields, isStruct := c.types.of(t)
	var elem reflect.Type
	if !isStruct {
		elem = elemOf(t, reflect.Map)
	}
	seen := map[string]bool{}
	for c.in.More() {
		pos := c.pos()
		token, err := c.in.Token()
		if err != nil {
			return
		}
		name, _ := token.(string)
		at := path + "." + name
		if path == "" {
			at = name
		}
		if seen[name] {
			c.errs = append(c.errs, script.Errorf(pos, "give it once", "%s: the payload has the field %q twice", c.command.Name, at))
		}
		seen[name] = true
		next := elem
		if isStruct {
			var known bool
			if next, known = fields.types[name]; !known && !fields.open {
				hint := "leave it out, or declare the resource with fields=any"
				if near := script.Suggest(name, fields.names); near != "" {
					hint = fmt.Sprintf("did you mean %q?", near)
				}
				c.errs = append(c.errs, script.Errorf(pos, hint, "%s: a %s has no field %q", c.command.Name, c.kind, at))
			}
		}
		c.value(next, at)
	}
	_, _ = c.in.Token() // the closing brace
}

// elemOf is the type of the elements of a slice or map, nil if it is not known.
func elemOf(t reflect.Type, kind reflect.Kind) reflect.Type {
	if t = known(t); t == nil || t.Kind() != kind {
		return nil
	}
	return t.Elem()
}

var (
	jsonUnmarshaler = reflect.TypeFor[json.Unmarshaler]()
	textUnmarshaler = reflect.TypeFor[encoding.TextUnmarshaler]()
)

// known is a type without its pointers, nil if it reads JSON in its own way.
func known(t reflect.Type) reflect.Type {
	for t != nil && t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if t == nil || reflect.PointerTo(t).Implements(jsonUnmarshaler) || reflect.PointerTo(t).Implements(textUnmarshaler) {
		return nil
	}
	return t
}

// jsonFields are the fields of a struct as JSON has them.
type jsonFields struct {
	types map[string]reflect.Type
	names []string // in the order of the struct
	open  bool     // there may be more
}

// of returns the fields of a struct; ok is false for other types.
func (c fieldCache) of(t reflect.Type) (f jsonFields, ok bool) {
	if t == nil {
		return f, false
	}
	if f, ok = c[t]; ok {
		return f, f.types != nil
	}
	if direct := known(t); direct != nil && direct.Kind() == reflect.Struct {
		f.types = map[string]reflect.Type{}
		f.add(direct)
	}
	c[t] = f
	return f, f.types != nil
}

func (f *jsonFields) add(t reflect.Type) {
	for i := range t.NumField() {
		field := t.Field(i)
		name, _, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-":
		case field.Type == reflect.TypeFor[others]():
			f.open = true
		case name == "" && field.Anonymous:
			f.add(known(field.Type))
		case field.IsExported():
			if name == "" {
				name = field.Name
			}
			f.types[name] = field.Type
			f.names = append(f.names, name)
		}
	}
}

// wrongType is the error for a payload that cannot be decoded, at the value that has the wrong type if that is known.
func wrongType(s *script.Command, kind string, err error) error {
	const hint = "write the object as its API does"
	if typed := (*json.UnmarshalTypeError)(nil); errors.As(err, &typed) {
		return script.Errorf(payloadPos(s, valueStart(s.Payload, int(typed.Offset))), hint, "%s: the payload is not a %s: %s is a %s, want %s", s.Name, kind, typed.Field, typed.Value, jsonWord(typed.Type))
	}
	return script.Errorf(s.PayloadPos, hint, "%s: the payload is not a %s: %v", s.Name, kind, err)
}

// jsonWord returns JSON's word for a value of a Go type.
func jsonWord(t reflect.Type) string {
	switch t.Kind() {
	case reflect.Struct, reflect.Map:
		return "object"
	case reflect.Slice, reflect.Array:
		return "array"
	}
	return t.Kind().String()
}

// valueStart is where the value starts that ends at, or contains, an offset.
func valueStart(payload []byte, end int) int {
	in := json.NewDecoder(bytes.NewReader(payload))
	start := 0
	for {
		from := int(in.InputOffset())
		for from < len(payload) && bytes.IndexByte([]byte(" \t\r\n,:"), payload[from]) >= 0 {
			from++
		}
		if from >= end {
			return start
		}
		start = from
		if _, err := in.Token(); err != nil {
			return start
		}
	}
}
