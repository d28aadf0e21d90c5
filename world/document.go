package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// document is an object's JSON, of which the kind and the metadata can be changed. The rest is copied as it is: decoding it would take longer than
// anything else that is done with the writes of a test's body before a server gets them.
type document struct {
	apiVersion, kind string // as they are to be
	metadata, rest   []member
}

// member is a member of a JSON object: a key and a value, as they are written there.
type member struct{ key, value []byte }

func (m member) is(key string) bool {
	return len(m.key) == len(key)+2 && string(m.key[1:len(m.key)-1]) == key
}

var errNoDocument = errors.New("what is to be written is no JSON object")

// readDocument reads an object. What is not JSON is either an error or stays so.
func readDocument(data []byte) (d *document, err error) {
	d = &document{rest: make([]member, 0, 8)}
	known := func(m member) bool {
		switch {
		case m.is("apiVersion"), m.is("kind"):
		case m.is("metadata") && string(m.value) == "null":
		case m.is("metadata"):
			err = members(m.value, func(m member) bool { d.metadata = append(d.metadata, m); return true })
		default:
			d.rest = append(d.rest, m)
		}
		return err == nil
	}
	if broken := members(data, known); broken != nil {
		return nil, broken
	}
	return d, err
}

// versionIn returns the resourceVersion of an object, "" if it has none. It reads no more of it than that takes.
func versionIn(data []byte) (version string) {
	_ = members(data, func(m member) bool { // what is no object has none
		if !m.is("metadata") {
			return true
		}
		_ = members(m.value, func(m member) bool {
			return !m.is("resourceVersion") || json.Unmarshal(m.value, &version) != nil
		})
		return false
	})
	return version
}

// meta returns a text of the metadata, "" for none.
func (d *document) meta(key string) (text string) {
	for _, m := range d.metadata {
		if m.is(key) && json.Unmarshal(m.value, &text) != nil {
			return ""
		}
	}
	return text
}

// setMeta sets a text of the metadata; "" removes it.
func (d *document) setMeta(key, text string) {
	kept := d.metadata[:0]
	for _, m := range d.metadata {
		if !m.is(key) {
			kept = append(kept, m)
		}
	}
	if d.metadata = kept; text != "" {
		d.metadata = append(d.metadata, member{quoted(key), quoted(text)})
	}
}

// bytes returns the JSON.
func (d *document) bytes() []byte {
	all := append(make([]member, 0, len(d.rest)+3), member{quoted("apiVersion"), quoted(d.apiVersion)}, member{quoted("kind"), quoted(d.kind)},
		member{quoted("metadata"), object(d.metadata)})
	return object(append(all, d.rest...))
}

// object returns a JSON object.
func object(all []member) []byte {
	size := len("{}")
	for _, m := range all {
		size += len(m.key) + len(m.value) + len(":,")
	}
	b := append(make([]byte, 0, size), '{')
	for n, m := range all {
		if n > 0 {
			b = append(b, ',')
		}
		b = append(append(append(b, m.key...), ':'), m.value...)
	}
	return append(b, '}')
}

// quoted returns a text as JSON.
func quoted(text string) []byte {
	data, err := types.AppendJSON(nil, text)
	if err != nil {
		panic(err) // cannot happen: every string has a JSON form
	}
	return data
}

// members calls f with each member of a JSON object, which is all that data has, as long as f wants more.
func members(data []byte, f func(member) (more bool)) error {
	rest := blank(data)
	if len(rest) == 0 || rest[0] != '{' {
		return errNoDocument
	}
	rest = blank(rest[1:])
	for first := true; len(rest) > 0 && rest[0] != '}'; first = false {
		if !first {
			if rest[0] != ',' {
				return errNoDocument
			}
			rest = blank(rest[1:])
		}
		var m member
		if m.key, rest = value(rest); len(m.key) == 0 || m.key[0] != '"' || len(rest) == 0 || rest[0] != ':' {
			return errNoDocument
		}
		if m.value, rest = value(blank(rest[1:])); len(m.value) == 0 {
			return errNoDocument
		}
		if !f(m) {
			return nil
		}
	}
	if len(rest) == 0 || len(blank(rest[1:])) > 0 {
		return errNoDocument
	}
	return nil
}

// blank returns data without the white space that it begins with.
func blank(data []byte) []byte { return bytes.TrimLeft(data, " \t\r\n") }

// value returns the value that data begins with, and what comes after it and white space.
func value(data []byte) (v, rest []byte) {
	depth, inText := 0, false
	for n := 0; n < len(data); n++ {
		switch c := data[n]; {
		case inText && c == '\\':
			n++
		case inText:
			inText = c != '"'
			if !inText && depth == 0 {
				return data[:n+1], blank(data[n+1:])
			}
		case c == '"':
			inText = true
		case c == '{' || c == '[':
			depth++
		case (c == '}' || c == ']') && depth > 1:
			depth--
		case (c == '}' || c == ']') && depth == 1:
			return data[:n+1], blank(data[n+1:])
		case depth == 0 && strings.IndexByte("}],: \t\r\n", c) >= 0:
			return data[:n], blank(data[n:])
		}
	}
	return nil, nil
}
