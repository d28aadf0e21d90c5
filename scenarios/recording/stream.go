package recording

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"unicode/utf8"

	"github.com/informersim/informersim/scenarios/script"
)

// stream reads JSON values one after the other and knows where each one is. encoding/json's Decoder does not: it has
// offsets but no lines, and its offsets of syntax errors do not count what it read before.
type stream struct {
	name string
	in   io.Reader
	buf  [64 << 10]byte
	i, n int   // buf[i:n] is read but not consumed
	err  error // why the input ended; io.EOF at its end

	limit     int64 // bytes to read at most
	base      int64 // offset in the input of buf[0]
	line      int
	lineStart int64 // offset of the line's first byte

	value []byte // the value read last, reused
}

func newStream(name string, in io.Reader) *stream {
	return &stream{name: name, in: in, line: 1, limit: MaxInputSize}
}

// place is where a value starts.
type place struct {
	pos    script.Pos
	offset int64 // in bytes from the start of the input
}

func (s *stream) offset() int64 { return s.base + int64(s.i) }

func (s *stream) place() place {
	at := s.offset()
	return place{offset: at, pos: script.Pos{File: s.name, Line: s.line, Column: int(at-s.lineStart) + 1}}
}

// fill makes s.i < s.n, or returns false at the end of the input or on an error, which is in s.err.
func (s *stream) fill() bool {
	for s.i == s.n && s.err == nil {
		s.base += int64(s.n)
		s.i, s.n = 0, 0
		if s.base >= s.limit {
			// One byte more says whether there is more; none of it is used.
			if n, _ := io.ReadAtLeast(s.in, s.buf[:1], 1); n > 0 {
				s.err = script.Errorf(script.Pos{File: s.name}, recordLess, "the recording is over %s", script.FormatSize(s.limit))
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
	return script.Errorf(s.place().pos, "", "the recording cannot be read: %v", s.err)
}

// next returns the next byte that is no whitespace without consuming it, or false at the end of the input.
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

// read reads the JSON value that starts at the next byte, which is no whitespace. The result is valid JSON in valid UTF-8 and
// lives until the next read. The error is errTruncated if the input ends inside a value that was right so far.
func (s *stream) read() ([]byte, place, error) {
	start := s.place()
	s.value = s.value[:0]
	complete := s.scan()
	if len(s.value) > maxDocumentSize {
		if err := s.check(start, true); err != nil {
			return nil, start, err
		}
		return nil, start, script.Errorf(start.pos, "check that the recording is what kubectl printed",
			"a JSON value is over %s", script.FormatSize(maxDocumentSize))
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

// scan appends the next value to s.value, by its brackets and strings only, and says whether it is complete. It stops early
// at what cannot go on as JSON; check finds it.
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

// take moves the next byte to s.value; false at the end of the input or of what a value may have.
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

// scanString reads on behind the opening quote. A line end is not allowed in a string.
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

// scanLiteral reads a number, true, false or null, or one byte that starts no value.
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

// check says where s.value is not JSON in UTF-8. The value may be a proper beginning of one if partial is set.
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
