package script

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// parsePayload parses the JSON object that starts at off on line l, which may end on a later line, and the prose after it.
func (p *parser) parsePayload(c *Command, l span, off int) {
	c.PayloadPos = p.pos(l, off)
	end := jsonEnd(p.src, off)
	if end < 0 {
		p.failPayload(c, p.src[off:], off)
		return
	}
	raw := []byte(p.src[off:end])
	if !json.Valid(raw) {
		p.failPayload(c, p.src[off:end], off)
		return
	}
	// A carriage return is whitespace outside JSON strings and illegal inside them, so dropping it changes nothing.
	c.Payload = dropByte(raw, '\r')

	last := l
	if lines := strings.Count(p.src[off:end], "\n"); lines > 0 {
		p.off = off + strings.LastIndexByte(p.src[off:end], '\n') + 1
		p.line = l.line + lines
		last = p.peek()
		p.skip(last)
		c.lineEnd = last.next
	}
	end += leadingBlanks(p.src[end:last.end])
	if end == last.end {
		return
	}
	if p.src[end] != '#' {
		p.fail(p.pos(last, end), "the payload must be last in a command; a # starts prose", "unexpected %s after the payload",
			quoteShort(p.src[end:wordEnd(p.src, end, last.end)]))
		return
	}
	c.Comment = strings.TrimSpace(p.src[end+1 : last.end])
}

// failPayload reports a payload that is never closed (at its start) or is not JSON (at the offending byte). If the offending
// byte is on a later line, parsing continues with that line, which is probably the next command.
func (p *parser) failPayload(c *Command, text string, off int) {
	var raw json.RawMessage
	err := json.NewDecoder(strings.NewReader(text)).Decode(&raw)
	var syntax *json.SyntaxError
	if !errors.As(err, &syntax) {
		hint := "close the { of the payload"
		if !errors.Is(err, io.ErrUnexpectedEOF) && err != nil {
			hint = err.Error()
		}
		p.fail(c.PayloadPos, hint, "the JSON payload is not terminated")
		p.off = len(p.src)
		return
	}
	wrong := off + min(max(int(syntax.Offset)-1, 0), len(text)-1)
	at := p.posOf(wrong)
	if at.Line == c.PayloadPos.Line {
		p.fail(at, "a payload is one JSON object", "the payload is not valid JSON: %s", syntax.Error())
		return
	}
	p.fail(c.PayloadPos, "close the { of the payload, or fix the JSON there", "the JSON payload is not terminated: at %d:%d %s",
		at.Line, at.Column, syntax.Error())
	p.off = strings.LastIndexByte(p.src[:wrong], '\n') + 1
	p.line = at.Line
}

// jsonEnd returns the offset after the JSON object that starts at off, or -1 if the text ends first. It looks at braces and
// strings only.
func jsonEnd(src string, off int) int {
	depth := 0
	for i := off; i < len(src); i++ {
		switch src[i] {
		case '{', '[':
			depth++
		case '}', ']':
			depth--
			if depth == 0 {
				return i + 1
			}
		case '"':
			i = jsonStringEnd(src, i)
			if i < 0 {
				return -1
			}
		}
	}
	return -1
}

// jsonStringEnd returns the offset of the closing quote of the string that starts at off, or -1 if its line ends first.
func jsonStringEnd(src string, off int) int {
	for i := off + 1; i < len(src); i++ {
		switch src[i] {
		case '"':
			return i
		case '\\':
			i++
		case '\n':
			return -1
		}
	}
	return -1
}

func dropByte(b []byte, drop byte) []byte {
	if bytes.IndexByte(b, drop) < 0 {
		return b
	}
	kept := b[:0]
	for _, c := range b {
		if c != drop {
			kept = append(kept, c)
		}
	}
	return kept
}
