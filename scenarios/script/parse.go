package script

import (
	"strings"
	"unicode"
	"unicode/utf8"
)

const byteOrderMark = "\uFEFF"

// traceBegins is how a trace begins, by mistake.
const traceBegins = `{"trace":"informersim"`

// Parse parses a script; positions refer to it as name. The error is an Errors with at most MaxErrors errors. Parse accepts
// a leading byte order mark and CRLF line endings.
func Parse(name string, src []byte) (*File, error) {
	if len(src) > MaxFileSize {
		return nil, Errors{tooBig(name, int64(len(src)))}
	}
	p := &parser{name: name, src: string(src), line: 1, file: &File{Name: name}}
	p.file.src = p.src
	if err := p.checkText(); err != nil {
		return nil, Errors{err}
	}
	if strings.HasPrefix(p.src, byteOrderMark) {
		p.off = len(byteOrderMark)
	}
	if strings.HasPrefix(p.src[p.off:], traceBegins) { // through a pipe, say: that a file is one, commands see before
		return nil, Errors{Errorf(Pos{File: name, Line: 1, Column: 1}, "informersim replay FILE makes its run again", "it is a trace, not a script")}
	}
	for p.off < len(p.src) && len(p.errs) < MaxErrors {
		p.parseNode()
	}
	if len(p.errs) > 0 {
		return nil, p.errs
	}
	return p.file, nil
}

type parser struct {
	name string
	src  string
	file *File
	errs Errors

	off  int // start of the next line
	line int // its number

	// command is the command that ended on the previous line, the only one a `----` on the next line can belong to.
	command *Command
	// args are the arguments of the command that is being parsed: how many it has is known at its end.
	args []Arg
}

// span is one line of the source: src[start:end], without its line ending; the next line starts at next.
type span struct {
	start, end, next, line int
}

func (p *parser) text(l span) string { return p.src[l.start:l.end] }

// peek returns the next line without consuming it. It must not be called at the end of the source.
func (p *parser) peek() span {
	l := span{start: p.off, line: p.line}
	if i := strings.IndexByte(p.src[p.off:], '\n'); i >= 0 {
		l.end, l.next = p.off+i, p.off+i+1
	} else {
		l.end, l.next = len(p.src), len(p.src)
	}
	// Remove all carriage returns: otherwise a printed line would lose another one each time it is parsed.
	for l.end > l.start && p.src[l.end-1] == '\r' {
		l.end--
	}
	return l
}

func (p *parser) skip(l span) { p.off, p.line = l.next, l.line+1 }

func (p *parser) pos(l span, off int) Pos {
	column := off - l.start + 1
	if l.line == 1 && strings.HasPrefix(p.src, byteOrderMark) && l.start == 0 {
		column -= len(byteOrderMark)
	}
	return Pos{File: p.name, Line: l.line, Column: column}
}

func (p *parser) fail(pos Pos, hint, format string, args ...any) {
	p.errs = append(p.errs, Errorf(pos, hint, format, args...))
}

// parseNode parses the node that starts on the next line. It always consumes that line.
func (p *parser) parseNode() {
	l := p.peek()
	start := l.start + leadingBlanks(p.text(l))
	rest := p.src[start:l.end]
	above := p.command
	p.command = nil
	switch {
	case isBlank(rest):
		p.skip(l)
		p.file.Nodes = append(p.file.Nodes, &Blank{Pos: p.pos(l, l.start)})
	case rest[0] == '#':
		p.skip(l)
		text := strings.TrimRightFunc(rest[1:], unicode.IsSpace)
		p.file.Nodes = append(p.file.Nodes, &Comment{Pos: p.pos(l, start), Text: text})
	case dashes(rest) == len(separator):
		p.parseOutput(l, above)
	default:
		p.command = p.parseCommand(l, start)
	}
}

// checkText refuses input that is not text: NUL bytes, invalid UTF-8, and overlong lines.
func (p *parser) checkText() *Error {
	if !utf8.ValidString(p.src) {
		off := firstInvalidUTF8(p.src)
		return Errorf(p.posOf(off), "save the script as UTF-8", "byte 0x%02x is not valid UTF-8", p.src[off])
	}
	if off := strings.IndexByte(p.src, 0); off >= 0 {
		return Errorf(p.posOf(off), "save the script as plain UTF-8 text", "the script has a NUL byte")
	}
	for start, line := 0, 1; start < len(p.src); line++ {
		length := strings.IndexByte(p.src[start:], '\n')
		if length < 0 {
			length = len(p.src) - start
		}
		if length > MaxLineLength {
			return Errorf(Pos{File: p.name, Line: line, Column: MaxLineLength + 1},
				"write the payload over several lines", "the line has %d bytes; the limit is 4 MiB", length)
		}
		start += length + 1
	}
	return nil
}

// posOf returns the position of an offset. It counts lines from the start, since only errors need it.
func (p *parser) posOf(off int) Pos {
	before := p.src[:off]
	start := strings.LastIndexByte(before, '\n') + 1
	return p.pos(span{start: start, line: 1 + strings.Count(before, "\n")}, off)
}

func firstInvalidUTF8(s string) int {
	for off := 0; off < len(s); {
		r, size := utf8.DecodeRuneInString(s[off:])
		if r == utf8.RuneError && size == 1 {
			return off
		}
		off += size
	}
	return len(s)
}

func leadingBlanks(s string) int {
	i := 0
	for i < len(s) && (s[i] == ' ' || s[i] == '\t') {
		i++
	}
	return i
}

func isBlank(s string) bool { return leadingBlanks(s) == len(s) }
