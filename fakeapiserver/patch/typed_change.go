package patch

import (
	"encoding/binary"
	"encoding/json"
	"reflect"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// typedChange describes two objects of a Go type as appendChange does unstructured ones. The type says which fields there are, so
// each takes a byte or two: whether it is there before and after, whether it is empty (which the library asks to leave it out), and whether it differs.
// Lists, and what has a form of its own in JSON, are encoded in full.
type typedChange struct {
	b       []byte
	formats map[reflect.Type]format
	times   []int64 // those of lists: what matters is which are the same
	failed  bool    // there is a value that cannot be described
}

// format says how a type appears in JSON.
type format byte

const (
	byKind    format = iota + 1 // as its kind in Go says
	asTime                      // as seconds
	asMicro                     // as microseconds
	marshaled                   // as its own MarshalJSON says
	asEntry                     // a managedFields entry, whose time is part of the result
)

var (
	marshaler = reflect.TypeFor[json.Marshaler]()
	timeType  = reflect.TypeFor[metav1.Time]()
	microType = reflect.TypeFor[metav1.MicroTime]()
	entryType = reflect.TypeFor[metav1.ManagedFieldsEntry]()
)

// describe appends what the library's result for two objects depends on; ok is false if it cannot say.
func (c *typedChange) describe(b []byte, live, obj runtime.Object) (_ []byte, ok bool) {
	before, after := reflect.ValueOf(live), reflect.ValueOf(obj)
	if before.Type() != after.Type() || before.Kind() != reflect.Pointer {
		return nil, false
	}
	if c.formats == nil {
		c.formats = map[reflect.Type]format{}
	}
	c.b, c.times, c.failed = b, c.times[:0], false
	c.change(before.Elem(), after.Elem())
	return c.b, !c.failed
}

func (c *typedChange) format(t reflect.Type) format {
	f := c.formats[t]
	if f != 0 {
		return f
	}
	switch {
	case t == timeType:
		f = asTime
	case t == microType:
		f = asMicro
	case t == entryType:
		f = asEntry
	case t.Kind() == reflect.Pointer: // what it points to says it
		f = byKind
	case t.Implements(marshaler), reflect.PointerTo(t).Implements(marshaler):
		f = marshaled
	default:
		f = byKind
	}
	c.formats[t] = f
	return f
}

const (
	hasBefore = 1 << iota
	hasAfter
	emptyBefore
	emptyAfter
	same
)

// mark describes two values of one type, of which one may be invalid: it is not there.
func mark(before, after reflect.Value, empty func(reflect.Value) bool, equal func(a, b reflect.Value) bool) byte {
	m := byte(0)
	if before.IsValid() {
		m |= hasBefore
		if empty(before) {
			m |= emptyBefore
		}
	}
	if after.IsValid() {
		m |= hasAfter
		if empty(after) {
			m |= emptyAfter
		}
	}
	if before.IsValid() && after.IsValid() && equal(before, after) {
		m |= same
	}
	return m
}

// change describes two values of one type, of which one may be invalid.
func (c *typedChange) change(before, after reflect.Value) {
	one := before
	if !one.IsValid() {
		one = after
	}
	if !one.IsValid() {
		return
	}
	switch c.format(one.Type()) {
	case asTime:
		c.b = append(c.b, mark(before, after, isZeroTime, func(a, b reflect.Value) bool { return timeOf(a).Unix() == timeOf(b).Unix() }))
		return
	case asMicro:
		c.b = append(c.b, mark(before, after, isZeroTime, func(a, b reflect.Value) bool { return timeOf(a).UnixMicro() == timeOf(b).UnixMicro() }))
		return
	case marshaled, asEntry:
		c.both(before, after)
		return
	}
	switch one.Kind() {
	case reflect.String, reflect.Bool, reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64, reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		c.b = append(c.b, mark(before, after, reflect.Value.IsZero, reflect.Value.Equal))
	case reflect.Pointer:
		c.b = append(c.b, mark(before, after, reflect.Value.IsNil, differ))
		c.change(elem(before), elem(after))
	case reflect.Struct:
		for i := range one.NumField() {
			c.change(fieldOf(before, i), fieldOf(after, i))
		}
	case reflect.Map:
		c.maps(before, after)
	case reflect.Slice:
		if one.Type().Elem().Kind() == reflect.Uint8 {
			c.b = append(c.b, mark(before, after, reflect.Value.IsNil, differ), mark(before, after, isEmpty, func(a, b reflect.Value) bool { return string(a.Bytes()) == string(b.Bytes()) }))
			return
		}
		c.both(before, after)
	default:
		c.both(before, after)
	}
}

// differ is the answer where what is inside tells whether two values differ.
func differ(_, _ reflect.Value) bool { return false }

func isEmpty(v reflect.Value) bool { return v.Len() == 0 }

func timeOf(v reflect.Value) metav1.Time {
	if v.Type() == microType {
		return metav1.Time(v.Interface().(metav1.MicroTime))
	}
	return v.Interface().(metav1.Time)
}

func isZeroTime(v reflect.Value) bool { t := timeOf(v); return t.IsZero() }

func elem(v reflect.Value) reflect.Value {
	if !v.IsValid() || v.IsNil() {
		return reflect.Value{}
	}
	return v.Elem()
}

func fieldOf(v reflect.Value, i int) reflect.Value {
	if !v.IsValid() {
		return v
	}
	return v.Field(i)
}

func (c *typedChange) maps(before, after reflect.Value) {
	c.b = append(c.b, mark(before, after, reflect.Value.IsNil, differ))
	var keys []reflect.Value
	if before.IsValid() {
		keys = before.MapKeys() // order: sorted below
	}
	if after.IsValid() {
		for _, k := range after.MapKeys() { // order: sorted below
			if !before.IsValid() || !before.MapIndex(k).IsValid() {
				keys = append(keys, k)
			}
		}
	}
	if len(keys) > 0 && keys[0].Kind() != reflect.String {
		c.failed = true
		return
	}
	slices.SortFunc(keys, func(a, b reflect.Value) int { return strings.Compare(a.String(), b.String()) })
	c.b = binary.AppendUvarint(c.b, uint64(len(keys)))
	at := func(m, k reflect.Value) reflect.Value {
		if !m.IsValid() {
			return m
		}
		return m.MapIndex(k)
	}
	for _, k := range keys {
		c.text(k.String())
		was, is := at(before, k), at(after, k)
		c.b = append(c.b, mark(was, is, never, differ))
		c.change(was, is)
	}
}

func never(reflect.Value) bool { return false }

func (c *typedChange) text(s string) {
	c.b = append(binary.AppendUvarint(c.b, uint64(len(s))), s...)
}

// both encodes two values in full; the second one only if it differs.
func (c *typedChange) both(before, after reflect.Value) {
	at := len(c.b)
	c.b = append(c.b, 0)
	start := len(c.b)
	if before.IsValid() {
		c.value(before)
	}
	end := len(c.b)
	if after.IsValid() {
		c.value(after)
	}
	equal := func(_, _ reflect.Value) bool { return string(c.b[start:end]) == string(c.b[end:]) }
	if c.b[at] = mark(before, after, never, equal); c.b[at]&same != 0 {
		c.b = c.b[:end]
	}
}

// value encodes a value in full.
func (c *typedChange) value(v reflect.Value) {
	switch c.format(v.Type()) {
	case asTime, asMicro:
		c.time(timeOf(v).UnixMicro())
		return
	case asEntry:
		c.entry(v.Interface().(metav1.ManagedFieldsEntry))
		return
	case marshaled:
		c.json(v)
		return
	}
	switch v.Kind() {
	case reflect.String:
		c.text(v.String())
	case reflect.Bool:
		c.b = append(c.b, mark(v, reflect.Value{}, reflect.Value.IsZero, differ))
	case reflect.Int, reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		c.b = binary.AppendVarint(c.b, v.Int())
	case reflect.Pointer:
		c.b = append(c.b, mark(v, reflect.Value{}, reflect.Value.IsNil, differ))
		if !v.IsNil() {
			c.value(v.Elem())
		}
	case reflect.Struct:
		for i := range v.NumField() {
			c.value(v.Field(i))
		}
	case reflect.Slice:
		c.b = append(c.b, mark(v, reflect.Value{}, reflect.Value.IsNil, differ))
		if v.Type().Elem().Kind() == reflect.Uint8 {
			c.text(string(v.Bytes()))
			return
		}
		c.b = binary.AppendUvarint(c.b, uint64(v.Len()))
		for i := range v.Len() {
			c.value(v.Index(i))
		}
	default: // maps, too, whose keys JSON sorts
		c.json(v)
	}
}

// time encodes which of the times in lists it is: no list is ordered by time, and none has times for keys.
func (c *typedChange) time(t int64) {
	n := slices.Index(c.times, t)
	if n < 0 {
		n = len(c.times)
		c.times = append(c.times, t)
	}
	c.b = binary.AppendUvarint(c.b, uint64(n))
}

func (c *typedChange) entry(e metav1.ManagedFieldsEntry) {
	for _, s := range []string{e.Manager, string(e.Operation), e.APIVersion, e.FieldsType, e.Subresource} {
		c.text(s)
	}
	c.b = append(c.b, mark(reflect.ValueOf(e.Time), reflect.ValueOf(e.FieldsV1), reflect.Value.IsNil, differ))
	if e.Time != nil {
		c.b = binary.AppendVarint(c.b, e.Time.Unix())
	}
	if e.FieldsV1 != nil {
		c.text(string(e.FieldsV1.Raw))
	}
}

// json encodes a value as JSON, which is slow, but knows everything.
func (c *typedChange) json(v reflect.Value) {
	if v.Kind() != reflect.Pointer && v.CanAddr() {
		v = v.Addr()
	}
	if !v.CanInterface() {
		c.failed = true
		return
	}
	var data []byte
	var err error
	if m, ok := v.Interface().(json.Marshaler); ok && !(v.Kind() == reflect.Pointer && v.IsNil()) {
		data, err = m.MarshalJSON()
	} else {
		data, err = json.Marshal(v.Interface())
	}
	c.failed = c.failed || err != nil
	c.text(string(data))
}
