package script

import (
	"bytes"
	"strconv"
	"strings"
	"unicode"
)

// Print returns a file in canonical form: words separated by one space and quoted only where necessary, payloads verbatim,
// fences only where necessary, `\n` line endings. Parsing the result gives a file Equal to f if f comes from Parse or follows
// the rules: command names satisfy IsName, keys IsKey, payloads are JSON objects.
func Print(f *File) []byte {
	var dst []byte
	for i, n := range f.Nodes {
		switch n := n.(type) {
		case *Blank:
			dst = append(dst, '\n')
		case *Comment:
			for line := range strings.SplitSeq(cleanText(n.Text), "\n") {
				dst = append(dst, '#')
				dst = append(dst, strings.TrimRightFunc(line, unicode.IsSpace)...)
				dst = append(dst, '\n')
			}
		case *Command:
			dst = appendCommand(dst, n)
			if n.Output != nil {
				dst = appendOutput(dst, n.Output.Text, n.Output.Fenced, blankFollows(f.Nodes, i), "\n")
			}
		}
	}
	return dst
}

func blankFollows(nodes []Node, i int) bool {
	if i+1 == len(nodes) {
		return true
	}
	_, blank := nodes[i+1].(*Blank)
	return blank
}

// String returns the command in canonical form, without its expected output.
func (c *Command) String() string {
	return string(bytes.TrimSuffix(appendCommand(nil, c), []byte("\n")))
}

func appendCommand(dst []byte, c *Command) []byte {
	dst = append(dst, c.Name...)
	for _, a := range c.Args {
		dst = append(dst, ' ')
		dst = a.appendTo(dst)
	}
	if payload := bytes.TrimSpace(c.Payload); len(payload) > 0 {
		dst = append(dst, ' ')
		dst = append(dst, payload...)
	}
	if comment := strings.TrimSpace(cleanText(strings.ReplaceAll(c.Comment, "\n", " "))); comment != "" {
		dst = append(dst, " # "...)
		dst = append(dst, comment...)
	}
	return append(dst, '\n')
}

// String returns the argument as written in a script.
func (a Arg) String() string { return string(a.appendTo(nil)) }

func (a *Arg) appendTo(dst []byte) []byte {
	if a.Key != "" {
		dst = append(append(dst, a.Key...), '=')
	}
	if needsQuote(a.Value) || a.Key == "" && strings.IndexByte(a.Value, '=') >= 0 {
		return strconv.AppendQuote(dst, a.Value)
	}
	return append(dst, a.Value...)
}

// needsQuote reports whether a word or value must be quoted.
func needsQuote(s string) bool {
	if s == "" || s[0] == '{' || s[0] == '#' {
		return true
	}
	for _, r := range s {
		if r == '"' || r == '\'' || r == '`' || r == unicode.ReplacementChar || unicode.IsSpace(r) || !unicode.IsPrint(r) {
			return true
		}
	}
	return false
}
