package html

import (
	"reflect"
	"unicode/utf8"
)

// maxText is the length, in bytes, of a text in the diagram. Nobody reads more of one there, and a report must not grow with it.
const maxText = 400

// capped returns a text, or its beginning.
func capped(text string, n int) string {
	if len(text) <= n {
		return text
	}
	for n > 0 && !utf8.RuneStart(text[n]) {
		n--
	}
	return text[:n] + "…"
}

// cap shortens every text of the page but the script, so that a trace with long names has a report, too.
func (p *page) cap(tight bool) {
	n := 4000
	if tight {
		n = maxText
	}
	scenario := p.Script
	capAll(reflect.ValueOf(p).Elem(), n)
	p.Script = scenario
}

func capAll(v reflect.Value, n int) {
	switch v.Kind() {
	case reflect.String:
		if v.Len() > n {
			v.SetString(capped(v.String(), n))
		}
	case reflect.Struct:
		for i := range v.NumField() {
			if f := v.Field(i); f.CanSet() {
				capAll(f, n)
			}
		}
	case reflect.Slice:
		if v.Len() > 0 && v.Index(0).Kind() != reflect.Uint8 {
			v.Set(reflect.AppendSlice(reflect.MakeSlice(v.Type(), 0, v.Len()), v)) // the trace's own stays as it is
			for i := range v.Len() {
				capAll(v.Index(i), n)
			}
		}
	}
}
