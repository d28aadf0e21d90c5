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

// A TraceReader reads a trace step by step and checks the order of lines, the numbering and the hash chain, which tells an
// edited file from one that a run wrote. It keeps one step in memory, not the trace.
type TraceReader struct {
	file   string
	br     *bufio.Reader
	line   int // number of the last line read
	header Header
	hash   hasher
	steps  uint64
	scan   lineScanner
	long   []byte // assembles lines longer than br's buffer
	next   []byte // a line read ahead
	ended  bool   // the file ends without an end line
	half   error  // and with half a line
	over   bool   // its end line has been read
	end    *TraceEnd
	err    error // returned by Next from now on
}

// NewTraceReader reads the header of the trace in r. Errors refer to it as file.
func NewTraceReader(file string, r io.Reader) (*TraceReader, error) {
	t := &TraceReader{file: file, br: bufio.NewReaderSize(r, 64<<10)}
	line, err := t.readLine(maxTraceBytes)
	if err == io.EOF {
		return nil, t.errorAt(1, "the file is empty; a trace starts with a header line")
	}
	if err != nil {
		return nil, err
	}
	line = bytes.TrimPrefix(line, []byte("\uFEFF")) // of an editor or a shell, as in scripts
	if err := t.readHeader(line); err != nil {
		return nil, err
	}
	t.hash.hash = t.header.Digest()
	return t, nil
}

func (t *TraceReader) readHeader(line []byte) error {
	// A newer version may have other fields, so check the version first.
	var kind struct {
		Trace   string `json:"trace"`
		Version int    `json:"version"`
	}
	err := json.NewDecoder(bytes.NewReader(line)).Decode(&kind)
	if kind.Trace != traceMagic {
		return t.errorf(`this is not a trace: the first line of one is {"trace":"informersim",…}`)
	}
	if err != nil {
		return t.errorf("not a header line: %v", err)
	}
	switch v := kind.Version; {
	case v > TraceVersion:
		return t.errorf("the trace has format version %d; this informersim reads versions up to %d: use a newer one", v, TraceVersion)
	case v < 1:
		return t.errorf("the trace has format version %d; versions start at 1", v)
	}
	if err := decodeLine(line, &t.header); err != nil {
		return t.errorf("not a header line: %v", err)
	}
	return nil
}

// Header returns the first line.
func (t *TraceReader) Header() Header { return t.header }

// End returns the last line; nil until Next has returned io.EOF.
func (t *TraceReader) End() *TraceEnd { return t.end }

// Next reads one step with its records. At the end of the trace it returns io.EOF. Other errors are a *TraceError, unless
// the underlying reader failed. Every later call returns the same error.
func (t *TraceReader) Next() (*TraceStep, error) {
	if t.err != nil {
		return nil, t.err
	}
	s, err := t.readStep()
	if err != nil {
		t.err = err
		return nil, err
	}
	return s, nil
}

func (t *TraceReader) readStep() (*TraceStep, error) {
	if t.half != nil {
		return nil, t.half
	}
	line, err := t.readLine(maxTraceBytes)
	if err == io.EOF {
		return nil, t.cutAt(t.line+1, CutBetweenSteps, "the trace is cut off after step %d: its end line is missing", t.steps)
	}
	if err != nil {
		return nil, err
	}
	if bytes.HasPrefix(line, []byte(endPrefix)) {
		return nil, t.readEnd(line)
	}
	s := &TraceStep{Line: t.line}
	if err := t.scan.decodeStep(line, s); err != nil {
		return nil, t.errorf("not a step line: %v", err)
	}
	if s.Step != t.steps+1 {
		return nil, t.errorf("step %d follows step %d; lines were lost, repeated or moved", s.Step, t.steps)
	}
	for _, d := range s.Draws {
		v, err := strconv.ParseUint(d, 16, 64)
		if err != nil {
			return nil, t.errorf("step %d: %q is not a drawn number (up to 16 hexadecimal digits)", s.Step, d)
		}
		s.draws = append(s.draws, v)
	}
	if err := t.readRecords(s, maxTraceBytes-len(line)); err != nil {
		return nil, err
	}
	if err := t.verify(s); err != nil {
		return nil, err
	}
	t.steps++
	return s, nil
}

func (t *TraceReader) verify(s *TraceStep) error {
	got := FormatHash(t.hash.traced(s))
	if got == s.Hash {
		return nil
	}
	switch {
	case t.half != nil:
		return t.half
	case t.ended:
		return t.cutAt(s.Line, CutInStep, "step %d does not match its hash (%s in the file, %s computed), and no line follows it: the trace is cut off within it", s.Step, s.Hash, got)
	}
	where := "here"
	if s.Step == 1 {
		where = "here or in its header" // where the hash chain starts
	}
	return t.errorAt(s.Line, "step %d does not match its hash (%s in the file, %s computed): the trace was edited or damaged %s", s.Step, s.Hash, got, where)
}

func (t *TraceReader) readRecords(s *TraceStep, budget int) error {
	for {
		line, err := t.readLine(budget)
		var broken *TraceError
		switch {
		case err == io.EOF:
			t.ended = true
			return nil // the missing end line is reported when the next step is read
		case errors.As(err, &broken) && broken.Cut == CutInStep:
			t.ended, t.half = true, err
			return nil // the hash tells whether this step lacks the line
		case err != nil:
			return err
		}
		if !bytes.HasPrefix(line, []byte(`{"r":`)) {
			t.next = line
			t.line--
			return nil
		}
		var r TraceRecord
		if err := t.scan.decodeRecord(line, &r); err != nil {
			return t.errorf("not a record line: %v", err)
		}
		s.Records = append(s.Records, r)
		budget -= len(line) + 1
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
	if got := FormatHash(t.hash.hash); e.Hash != got {
		return t.errorf("the end line's hash is %s, the lines before it give %s: the trace was edited or damaged", e.Hash, got)
	}
	t.over = true
	for {
		last := t.line
		line, err := t.readLine(maxTraceBytes)
		switch err.(type) {
		case nil:
			if blank(line) { // an editor or a shell may have added it
				continue
			}
			return t.errorAt(last+1, "there are lines after the end line")
		case *TraceError:
			return t.errorAt(last+1, "there are lines after the end line")
		}
		if err == io.EOF {
			t.end = &e
		}
		return err
	}
}

// endPrefix begins the last line of a trace.
const endPrefix = `{"end":`

// blank reports whether nothing can be seen of a line.
func blank(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }

// readLine returns the next line without its newline, or io.EOF. The slice is valid until the next call. A line longer than
// limit bytes is an error.
func (t *TraceReader) readLine(limit int) ([]byte, error) {
	if t.next != nil {
		l := t.next
		t.next = nil
		t.line++
		return l, nil
	}
	t.long = t.long[:0]
	for {
		line, err := t.br.ReadSlice('\n')
		if len(t.long) > 0 || errors.Is(err, bufio.ErrBufferFull) {
			t.long = append(t.long, line...)
			line = t.long
		}
		if len(line) > limit+1 { // 1 for the newline
			return nil, t.errorAt(t.line+1, "the header, or the lines of one step, exceed the limit of %d bytes: this is not a trace", maxTraceBytes)
		}
		switch {
		case err == nil:
			t.line++
			// A version control system may have rewritten line endings.
			return bytes.TrimSuffix(line[:len(line)-1], []byte("\r")), nil
		case errors.Is(err, bufio.ErrBufferFull):
		case err == io.EOF && (len(line) == 0 || t.over && blank(line)):
			return nil, io.EOF
		case err == io.EOF && bytes.HasPrefix(line, []byte(endPrefix)) && json.Valid(line):
			// An editor, or a paste, has left out what ends the file; the line has a hash of all that is before it.
			t.line++
			return bytes.TrimSuffix(line, []byte("\r")), nil
		case err == io.EOF:
			return nil, t.cutAt(t.line+1, CutInStep, "the trace is cut off in the middle of a line")
		default:
			return nil, fmt.Errorf("reading %s: %w", t.file, err)
		}
	}
}

func (t *TraceReader) errorf(format string, args ...any) error {
	return t.errorAt(t.line, format, args...)
}

func (t *TraceReader) errorAt(line int, format string, args ...any) error {
	return t.cutAt(line, NotCut, format, args...)
}

func (t *TraceReader) cutAt(line int, cut Cut, format string, args ...any) error {
	return &TraceError{File: t.file, Line: line, Msg: fmt.Sprintf(format, args...), Cut: cut}
}

// Steps returns the number of complete steps read so far.
func (t *TraceReader) Steps() uint64 { return t.steps }

// Skip reads the rest of the trace. It returns nil at its end, and what Next returns otherwise.
func (t *TraceReader) Skip() error {
	for {
		switch _, err := t.Next(); err {
		case nil:
		case io.EOF:
			return nil
		default:
			return err
		}
	}
}

// decodeLine decodes one line and refuses anything a writer would not have written.
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
