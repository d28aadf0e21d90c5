package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/informersim/informersim/scenarios/script"
)

// stream reads a sequence of JSON values and knows their positions. encoding/json's Decoder does not: it has offsets but no
// lines, and the offsets in its syntax errors do not count earlier values.
type stream struct {
	name string
	in   io.Reader
	buf  [64 << 10]byte
	i, n int   // buf[i:n] is read but not yet consumed
	err  error // why the input ended; io.EOF at its end

	limit     int64 // maximum number of bytes to read
	base      int64 // offset in the input of buf[0]
	line      int
	lineStart int64 // offset of the line's first byte

	value []byte // the last value read; reused
}

func newStream(name string, in io.Reader) *stream {
	return &stream{name: name, in: in, line: 1, limit: MaxInputSize}
}

// place is the start of a value.
type place struct {
	pos    script.Pos
	offset int64 // in bytes from the start of the input
}

func (s *stream) offset() int64 { return s.base + int64(s.i) }

func (s *stream) place() place {
	at := s.offset()
	return place{offset: at, pos: script.Pos{File: s.name, Line: s.line, Column: int(at-s.lineStart) + 1}}
}

// fill ensures s.i < s.n, or returns false at the end of the input or after an error, with the reason in s.err.
func (s *stream) fill() bool {
	for s.i == s.n && s.err == nil {
		s.base += int64(s.n)
		s.i, s.n = 0, 0
		if s.base >= s.limit {
			// Reading one byte beyond the limit shows whether the input exceeds it.
			if n, _ := io.ReadAtLeast(s.in, s.buf[:1], 1); n > 0 {
				s.err = script.Errorf(script.Pos{File: s.name}, recordLess, "the recording exceeds %s", script.FormatSize(s.limit))
				return false
			}
			s.err = io.EOF
			return false
		}
		s.n, s.err = s.in.Read(s.buf[:min(int64(len(s.buf)), s.limit-s.base)])
	}
	return s.i < s.n
}

// failure returns the error that ended the input, or nil at its proper end.
func (s *stream) failure() error {
	if s.err == nil || errors.Is(s.err, io.EOF) {
		return nil
	}
	var placed *script.Error
	if errors.As(s.err, &placed) {
		return placed
	}
	return script.Errorf(s.place().pos, "", "reading the recording: %v", s.err)
}

// next returns the next byte that is not whitespace without consuming it, or false at the end of the input.
func (s *stream) next() (byte, bool) {
	for s.i < s.n || s.fill() {
		switch c := s.buf[s.i]; c {
		case '\n':
			s.line++
			s.lineStart = s.offset() + 1
		case ' ', '\t', '\r':
		default:
			return c, true
		}
		s.i++
	}
	return 0, false
}

// skipByteOrderMark consumes a UTF-8 byte order mark and refuses UTF-16, which PowerShell's > writes.
func (s *stream) skipByteOrderMark() error {
	if !s.fill() {
		return s.failure()
	}
	head := s.buf[s.i:s.n]
	if bytes.HasPrefix(head, []byte{0xff, 0xfe}) || bytes.HasPrefix(head, []byte{0xfe, 0xff}) {
		return script.Errorf(s.place().pos, "save it as UTF-8, in PowerShell with | Out-File -Encoding utf8", "the recording is UTF-16")
	}
	if bytes.HasPrefix(head, []byte("\xef\xbb\xbf")) {
		s.i += 3
		s.lineStart = 3
	}
	return nil
}

var errTruncated = errors.New("the input ends inside a JSON value")

// read reads the JSON value that starts at the next byte, which must not be whitespace. The result is valid JSON in valid
// UTF-8, and valid until the next read. The error is errTruncated if the input ends inside a value that is well-formed so
// far.
func (s *stream) read() ([]byte, place, error) {
	start := s.place()
	s.value = s.value[:0]
	complete := s.scan()
	if len(s.value) > maxDocumentSize {
		if err := s.check(start, true); err != nil {
			return nil, start, err
		}
		return nil, start, script.Errorf(start.pos, "check that the recording is what kubectl printed",
			"a JSON value exceeds %s", script.FormatSize(maxDocumentSize))
	}
	if err := s.failure(); err != nil {
		return nil, start, err
	}
	if err := s.check(start, !complete); err != nil {
		return nil, start, err
	}
	if !complete {
		return nil, start, errTruncated
	}
	return s.value, start, nil
}

// scan appends the next value to s.value and reports whether it is complete. It looks at brackets and strings only, and
// stops early at input that cannot be JSON, for check to report.
func (s *stream) scan() bool {
	switch s.buf[s.i] {
	case '{', '[':
		return s.scanNested()
	case '"':
		s.take()
		return s.scanString()
	}
	return s.scanLiteral()
}

// take moves the next byte to s.value, or returns false at the end of the input or at the size limit of a value.
func (s *stream) take() (byte, bool) {
	if s.i == s.n && !s.fill() || len(s.value) > maxDocumentSize {
		return 0, false
	}
	c := s.buf[s.i]
	s.i++
	s.value = append(s.value, c)
	if c == '\n' {
		s.line++
		s.lineStart = s.offset()
	}
	return c, true
}

func (s *stream) scanNested() bool {
	for depth := 0; ; {
		c, ok := s.take()
		if !ok {
			return false
		}
		switch c {
		case '{', '[':
			depth++
		case '}', ']':
			if depth--; depth == 0 {
				return true
			}
		case '"':
			if !s.scanString() {
				return false
			}
		}
	}
}

// scanString reads the rest of a string after the opening quote. A string must not contain a newline.
func (s *stream) scanString() bool {
	for {
		c, ok := s.take()
		if c == '\\' {
			c, ok = s.take()
			if c == '"' {
				continue
			}
		}
		if !ok || c == '\n' {
			return false
		}
		if c == '"' {
			return true
		}
	}
}

// scanLiteral reads a number, true, false or null, or one byte that cannot start a value.
func (s *stream) scanLiteral() bool {
	for {
		if _, ok := s.take(); !ok {
			return json.Valid(s.value)
		}
		if s.i == s.n && !s.fill() {
			return json.Valid(s.value)
		}
		if isDelimiter(s.buf[s.i]) {
			return true
		}
	}
}

func isDelimiter(c byte) bool {
	switch c {
	case ' ', '\t', '\r', '\n', ',', ':', ']', '}', '{', '[', '"':
		return true
	}
	return false
}

const jsonHint = "a recording is what kubectl prints with -o json"

// check returns the first error if s.value is not JSON in UTF-8. If partial is set, the value may be a prefix of one.
func (s *stream) check(start place, partial bool) error {
	if !partial && json.Valid(s.value) && utf8.Valid(s.value) {
		return nil
	}
	if wrong := invalidUTF8(s.value); wrong >= 0 && !(partial && len(s.value)-wrong < utf8.UTFMax) {
		return script.Errorf(s.within(start, wrong), "save the recording as UTF-8", "byte 0x%02x is not valid UTF-8", s.value[wrong])
	}
	var raw json.RawMessage
	err := json.NewDecoder(bytes.NewReader(s.value)).Decode(&raw)
	var syntax *json.SyntaxError
	if errors.As(err, &syntax) {
		wrong := min(max(int(syntax.Offset)-1, 0), len(s.value)-1)
		return script.Errorf(s.within(start, wrong), jsonHint, "not valid JSON: %s", syntax.Error())
	}
	if !partial {
		return script.Errorf(start.pos, jsonHint, "not valid JSON: an incomplete literal")
	}
	return nil
}

// within returns the position of byte i of s.value, which starts at start.
func (s *stream) within(start place, i int) script.Pos {
	pos := start.pos
	before := s.value[:i]
	if lines := bytes.Count(before, []byte("\n")); lines > 0 {
		pos.Line += lines
		pos.Column = i - bytes.LastIndexByte(before, '\n')
		return pos
	}
	pos.Column += i
	return pos
}

func invalidUTF8(b []byte) int {
	for i := 0; i < len(b); {
		r, size := utf8.DecodeRune(b[i:])
		if r == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}
