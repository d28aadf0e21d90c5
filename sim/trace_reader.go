package sim

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// maxTraceLine bounds one line of a trace, so that a file that is no trace cannot fill the memory. The longest honest
// line is the header, which holds the script.
const maxTraceLine = 64 << 20

// TraceReader reads a trace step by step and checks what it reads: the order of lines, the numbering, and the chain of
// hashes, which tells an edited file from one that a run wrote.
type TraceReader struct {
	file   string
	br     *bufio.Reader
	line   int
	header Header
	hash   uint64
	steps  uint64
	next   []byte // a line read ahead
	end    *TraceEnd
}

// NewTraceReader reads the header of the trace that r holds. file is what errors call it.
func NewTraceReader(file string, r io.Reader) (*TraceReader, error) {
	t := &TraceReader{file: file, br: bufio.NewReaderSize(r, 64<<10)}
	line, err := t.readLine()
	if err == io.EOF {
		return nil, t.errorf("the file is empty; a trace starts with a header line")
	}
	if err != nil {
		return nil, err
	}
	if err := json.Unmarshal(line, &t.header); err != nil || t.header.Trace != traceMagic {
		return nil, t.errorf(`this is not a trace: the first line of one is {"trace":"informersim",…}`)
	}
	switch v := t.header.Version; {
	case v > TraceVersion:
		return nil, t.errorf("the trace has format version %d; this informersim reads versions up to %d: use a newer one", v, TraceVersion)
	case v < 1:
		return nil, t.errorf("the trace has format version %d; versions start at 1", v)
	}
	if t.header.Mix != nil && !json.Valid(t.header.Mix) {
		return nil, t.errorf("the header's mix is not JSON")
	}
	t.hash = t.header.Digest()
	return t, nil
}

// Header is the first line.
func (t *TraceReader) Header() Header { return t.header }

// End is the last line; nil until Next has returned io.EOF.
func (t *TraceReader) End() *TraceEnd { return t.end }

// Next reads one step with its records. At the end of the trace it returns io.EOF.
func (t *TraceReader) Next() (*TraceStep, error) {
	if t.end != nil {
		return nil, io.EOF
	}
	line, err := t.readLine()
	if err == io.EOF {
		return nil, t.errorf("the trace is cut off after step %d: its end line is missing", t.steps)
	}
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(line, []byte(`{"end":`)) {
		return nil, t.readEnd(line)
	}
	s := &TraceStep{Line: t.line}
	if err := decodeLine(line, s); err != nil {
		return nil, t.errorf("not a step line: %v", err)
	}
	if s.Step != t.steps+1 {
		return nil, t.errorf("step %d follows step %d; lines were lost or moved", s.Step, t.steps)
	}
	for _, d := range s.Draws {
		v, err := strconv.ParseUint(d, 16, 64)
		if err != nil {
			return nil, t.errorf("step %d: %q is not a drawn number (up to 16 hexadecimal digits)", s.Step, d)
		}
		s.draws = append(s.draws, v)
	}
	if err := t.readRecords(s); err != nil {
		return nil, err
	}
	t.steps++
	t.hash = hashStep(t.hash, s)
	if got := FormatHash(t.hash); got != s.Hash {
		return nil, &TraceError{File: t.file, Line: s.Line, Msg: fmt.Sprintf("step %d does not match its hash (%s in the file, %s by its content): the trace was edited or damaged here", s.Step, s.Hash, got)}
	}
	return s, nil
}

func (t *TraceReader) readRecords(s *TraceStep) error {
	for {
		line, err := t.readLine()
		if err == io.EOF {
			return nil // the missing end line is reported by the next Next
		}
		if err != nil {
			return err
		}
		if !bytes.HasPrefix(line, []byte(`{"r":`)) {
			t.unread(line)
			return nil
		}
		var r TraceRecord
		if err := decodeLine(line, &r); err != nil {
			return t.errorf("not a record line: %v", err)
		}
		s.Records = append(s.Records, r)
	}
}

func (t *TraceReader) readEnd(line []byte) error {
	var e TraceEnd
	if err := decodeLine(line, &e); err != nil {
		return t.errorf("not an end line: %v", err)
	}
	if e.Steps != t.steps {
		return t.errorf("the end line counts %d steps, the file has %d", e.Steps, t.steps)
	}
	if got := FormatHash(t.hash); e.Hash != got {
		return t.errorf("the end line's hash is %s, the steps give %s: the trace was edited or damaged", e.Hash, got)
	}
	if _, err := t.readLine(); err != io.EOF {
		return t.errorf("there are lines after the end line")
	}
	t.end = &e
	return io.EOF
}

func (t *TraceReader) unread(line []byte) {
	t.next = line
	t.line--
}

// readLine returns the next line without its newline. The slice is the caller's.
func (t *TraceReader) readLine() ([]byte, error) {
	t.line++
	if t.next != nil {
		l := t.next
		t.next = nil
		return l, nil
	}
	var line []byte
	for {
		part, err := t.br.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > maxTraceLine {
			return nil, t.errorf("the line is longer than %d MiB; this is not a trace", maxTraceLine>>20)
		}
		switch {
		case errors.Is(err, bufio.ErrBufferFull):
			continue
		case err == io.EOF && len(line) == 0:
			return nil, io.EOF
		case err == io.EOF:
			return nil, t.errorf("the trace is cut off in the middle of a line, after step %d", t.steps)
		case err != nil:
			return nil, fmt.Errorf("reading %s: %w", t.file, err)
		}
		return bytes.TrimSuffix(line, []byte("\n")), nil
	}
}

func (t *TraceReader) errorf(format string, args ...any) error {
	return &TraceError{File: t.file, Line: t.line, Msg: fmt.Sprintf(format, args...)}
}

// decodeLine decodes one line and refuses what a writer would never have put there.
func decodeLine(line []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(line))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.InputOffset() != int64(len(line)) {
		return errors.New("more follows its JSON value")
	}
	return nil
}
