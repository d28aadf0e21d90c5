package main

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// node is a JSON value whose fields keep their order, and may repeat.
type node struct {
	text   string // of a scalar
	open   byte   // '{' or '[', 0 for a scalar
	keys   []string
	values []*node
}

// parseNode reads a value.
func parseNode(d *json.Decoder) (*node, error) {
	t, err := d.Token()
	if err != nil {
		return nil, err
	}
	delim, nested := t.(json.Delim)
	if !nested {
		text, err := json.Marshal(t)
		return &node{text: string(text)}, err
	}
	n := &node{open: byte(delim)}
	for d.More() {
		if n.open == '{' {
			key, err := d.Token()
			if err != nil {
				return nil, err
			}
			n.keys = append(n.keys, key.(string)) // the decoder accepts no other key
		}
		v, err := parseNode(d)
		if err != nil {
			return nil, err
		}
		n.values = append(n.values, v)
	}
	_, err = d.Token()
	return n, err
}

func (n *node) print(b *bytes.Buffer) {
	if n.open == 0 {
		b.WriteString(n.text)
		return
	}
	b.WriteByte(n.open)
	for i, v := range n.values {
		if i > 0 {
			b.WriteByte(',')
		}
		if n.open == '{' {
			key, _ := json.Marshal(n.keys[i]) // strings always marshal
			b.Write(key)
			b.WriteByte(':')
		}
		v.print(b)
	}
	b.WriteByte(n.open + 2) // ']' and '}' follow two places after '[' and '{'
}

// below returns every value in n, and n.
func (n *node) below() []*node {
	all := []*node{n}
	for _, v := range n.values {
		all = append(all, v.below()...)
	}
	return all
}

// jsonMutators change one value or field of a JSON document, or of one line of JSON lines.
var jsonMutators = []mutator{
	{"drop-field", inObject(func(r *rand.Rand, n *node, i int) {
		n.keys, n.values = slices.Delete(n.keys, i, i+1), slices.Delete(n.values, i, i+1)
	})},
	{"rename-field", inObject(func(r *rand.Rand, n *node, i int) { n.keys[i] += "x" })},
	{"repeat-field", inObject(func(r *rand.Rand, n *node, i int) {
		n.keys, n.values = append(n.keys, n.keys[i]), append(n.values, n.values[r.IntN(len(n.values))])
	})},
	{"unknown-field", inObject(func(r *rand.Rand, n *node, i int) {
		n.keys, n.values = append(n.keys, "\u001b[31mno\nsuch\u0000"), append(n.values, &node{text: "1"})
	})},
	{"wrong-type", inValue(func(r *rand.Rand, n *node) {
		values := []string{"null", "true", "7", "-3", "1e400", `"text"`, `""`, "[]", "[1]", "{}", `{"a":1}`, `"\u0000"`, `"\u001b[2J"`, "12345678901234567890123"}
		was := n.text
		for n.open, n.keys, n.values = 0, nil, nil; n.text == was; {
			n.text = values[r.IntN(len(values))]
		}
	})},
	{"long-text", inValue(func(r *rand.Rand, n *node) { *n = node{text: `"` + strings.Repeat("y", 300_000) + `"`} })},
	{"deep-value", inValue(func(r *rand.Rand, n *node) {
		*n = node{text: strings.Repeat(`{"a":[`, 20_000) + "1" + strings.Repeat("]}", 20_000)}
	})},
}

func inObject(change func(r *rand.Rand, n *node, i int)) func(*rand.Rand, []byte) []byte {
	return inDocument(func(r *rand.Rand, root *node) {
		var objects []*node
		for _, n := range root.below() {
			if n.open == '{' && len(n.values) > 0 {
				objects = append(objects, n)
			}
		}
		if len(objects) > 0 {
			n := objects[r.IntN(len(objects))]
			change(r, n, r.IntN(len(n.values)))
		}
	})
}

func inValue(change func(*rand.Rand, *node)) func(*rand.Rand, []byte) []byte {
	return inDocument(func(r *rand.Rand, root *node) { all := root.below(); change(r, all[r.IntN(len(all))]) })
}

// inDocument changes a document, or a line if there are many.
func inDocument(change func(*rand.Rand, *node)) func(*rand.Rand, []byte) []byte {
	return func(r *rand.Rand, data []byte) []byte {
		if l := bytes.SplitAfter(bytes.Clone(data), []byte("\n")); len(l) > 2 && json.Valid(l[0]) {
			i := r.IntN(len(l) - 1)
			l[i] = append(inOne(change, r, bytes.TrimSpace(l[i])), '\n')
			return bytes.Join(l, nil)
		}
		return inOne(change, r, data)
	}
}

func inOne(change func(*rand.Rand, *node), r *rand.Rand, data []byte) []byte {
	d := json.NewDecoder(bytes.NewReader(data))
	d.UseNumber()
	root, err := parseNode(d)
	if err != nil {
		panic(fmt.Sprintf("a good input is not JSON: %v: %.100s", err, data)) // only good ones come here
	}
	change(r, root)
	var b bytes.Buffer
	root.print(&b)
	return b.Bytes()
}
