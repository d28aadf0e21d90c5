package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
	"unicode/utf8"
)

// TraceWriter is an observer that writes a trace. It keeps one step in memory, not the run.
type TraceWriter struct {
	k       *Kernel
	w       io.Writer
	out     []byte // complete lines not yet given to w
	records []byte // the records of the step under way
	at      int64  // virtual time at which the step under way began
	steps   uint64
	err     error

	actors []string // by id, quoted
	kinds  []string // by kind, quoted
}

// flushAt is how many bytes of complete lines are collected before they are written.
const flushAt = 64 << 10

// NewTraceWriter writes the header to w and returns an observer for k that writes the rest. Call Close at the end. The
// kernel must have been started with Options.Start = h.Digest() and stand at its first step: otherwise nobody could read
// the trace, and that is the error.
func NewTraceWriter(k *Kernel, w io.Writer, h Header) (*TraceWriter, error) {
	line, err := h.encode()
	if err != nil {
		return nil, fmt.Errorf("encoding the header of the trace: %w", err)
	}
	if len(line) > maxTraceBytes {
		return nil, fmt.Errorf("the header of the trace would have %d bytes; a trace may have %d there", len(line), maxTraceBytes)
	}
	if k.Steps() > 0 {
		return nil, fmt.Errorf("a trace starts with the run's first step, but %d were taken", k.Steps())
	}
	if k.Hash() != h.Digest() {
		return nil, errors.New("the kernel was not started from the digest of this trace's header (Options.Start)")
	}
	return &TraceWriter{k: k, w: w, out: append(line, '\n')}, nil
}

// Record implements Observer.
func (t *TraceWriter) Record(r *Record) {
	b := append(t.records, `{"r":`...)
	b = append(b, t.kind(r.Kind)...)
	b = append(b, `,"a":`...)
	b = append(b, t.actor(r.Actor)...)
	if int64(r.At) != t.at {
		b = append(b, `,"t":`...)
		b = strconv.AppendInt(b, int64(r.At), 10)
	}
	if r.Key != "" {
		b = append(b, `,"key":`...)
		b = appendQuoted(b, r.Key)
	}
	if r.RV != 0 {
		b = append(b, `,"rv":`...)
		b = strconv.AppendInt(b, r.RV, 10)
	}
	if r.N != 0 {
		b = append(b, `,"n":`...)
		b = strconv.AppendInt(b, r.N, 10)
	}
	if r.Detail != "" {
		b = append(b, `,"x":`...)
		b = appendQuoted(b, r.Detail)
	}
	t.records = append(b, '}', '\n')
}

// StepEnd implements Observer.
func (t *TraceWriter) StepEnd(s *StepInfo) {
	c := s.Choice
	b := append(t.out, `{"s":`...)
	b = strconv.AppendUint(b, s.Step, 10)
	b = append(b, `,"t":`...)
	b = strconv.AppendInt(b, t.at, 10)
	b = append(b, `,"a":`...)
	b = append(b, t.actor(c.Actor)...)
	b = append(b, `,"k":`...)
	b = append(b, t.kind(c.Kind)...)
	if c.Target != 0 {
		b = append(b, `,"g":`...)
		b = strconv.AppendUint(b, uint64(c.Target), 10)
	}
	b = append(b, `,"q":`...)
	b = strconv.AppendUint(b, uint64(c.Seq), 10)
	if len(s.Draws) > 0 {
		b = append(b, `,"d":[`...)
		for i, d := range s.Draws {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, '"')
			b = strconv.AppendUint(b, d, 16)
			b = append(b, '"')
		}
		b = append(b, ']')
	}
	b = append(b, `,"h":"`...)
	b = appendHash(b, s.Hash)
	b = append(b, '"', '}', '\n')
	if n := len(b) - len(t.out) + len(t.records); n > maxTraceBytes && t.err == nil {
		t.err = fmt.Errorf("step %d has %d bytes of records; a trace may have %d in one step", s.Step, n, maxTraceBytes)
	}
	t.out = append(b, t.records...)
	t.records = t.records[:0]
	t.at = int64(s.At)
	t.steps = s.Step
	if len(t.out) >= flushAt {
		t.flush()
	}
}

// Close writes the end line with the verdict. It returns the first error met while writing.
func (t *TraceWriter) Close(verdict string) error {
	end, err := json.Marshal(TraceEnd{Verdict: verdict, Steps: t.steps, Hash: FormatHash(t.k.Hash())})
	if err != nil {
		return err
	}
	t.out = append(append(t.out, end...), '\n')
	t.flush()
	if t.err != nil {
		return fmt.Errorf("writing the trace: %w", t.err)
	}
	return nil
}

func (t *TraceWriter) flush() {
	if t.err == nil {
		_, t.err = t.w.Write(t.out)
	}
	t.out = t.out[:0]
}

func (t *TraceWriter) actor(id ActorID) string {
	for int(id) >= len(t.actors) {
		t.actors = append(t.actors, string(appendQuoted(nil, t.k.ActorName(ActorID(len(t.actors))))))
	}
	return t.actors[id]
}

func (t *TraceWriter) kind(k Kind) string {
	for int(k) >= len(t.kinds) {
		t.kinds = append(t.kinds, string(appendQuoted(nil, Kind(len(t.kinds)).String())))
	}
	return t.kinds[k]
}

// appendQuoted appends s as a JSON string.
func appendQuoted(b []byte, s string) []byte {
	for i := 0; i < len(s); i++ {
		if c := s[i]; c < 0x20 || c == '"' || c == '\\' || c >= utf8.RuneSelf || c == '<' || c == '>' || c == '&' {
			q, _ := json.Marshal(s) // never fails for a string
			return append(b, q...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// FormatHash prints a hash as traces and verdicts show it: 16 hexadecimal digits.
func FormatHash(h uint64) string { return string(appendHash(nil, h)) }

func appendHash(b []byte, h uint64) []byte {
	const digits = "0123456789abcdef"
	for shift := 60; shift >= 0; shift -= 4 {
		b = append(b, digits[h>>shift&15])
	}
	return b
}
