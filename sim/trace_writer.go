package sim

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strconv"
)

// A TraceWriter is an observer that writes a trace. It keeps one step in memory, not the run.
type TraceWriter struct {
	k       *Kernel
	w       io.Writer
	out     []byte // complete lines not yet written to w
	records []byte // the records of the current step
	at      int64  // virtual time at which the current step began
	steps   uint64
	err     error

	pairs [][]*pairText // by actor
	key   quotedText    // of the last record that had one
	step  decimal
	time  decimal
	rv    decimal
}

// flushAt is the number of buffered bytes at which complete lines are written out.
const flushAt = 64 << 10

// NewTraceWriter returns an observer for k that writes a trace with the header h to w. Call Close at the end. The kernel must
// have been started with Options.Start = h.Digest() and not have taken a step; otherwise the trace would be unreadable, and
// NewTraceWriter returns an error.
func NewTraceWriter(k *Kernel, w io.Writer, h Header) (*TraceWriter, error) {
	line, err := h.encode(TraceVersion)
	if err != nil {
		return nil, fmt.Errorf("encoding the trace header: %w", err)
	}
	if len(line) > maxTraceBytes {
		return nil, fmt.Errorf("the trace header has %d bytes; the limit is %d", len(line), maxTraceBytes)
	}
	if k.Steps() > 0 {
		return nil, fmt.Errorf("a trace starts with the run's first step, but %d steps were taken already", k.Steps())
	}
	if k.Hash() != h.Digest() {
		return nil, errors.New("the kernel was not started from the digest of this trace's header (Options.Start)")
	}
	return &TraceWriter{k: k, w: w, out: append(line, '\n'), step: newDecimal(), time: newDecimal(), rv: newDecimal()}, nil
}

// Record implements Observer.
func (t *TraceWriter) Record(r *Record) {
	head := t.textOf(r.Actor, r.Kind)
	b := append(t.records, head.record...)
	if int64(r.At) != t.at {
		b = append(b, `,"t":`...)
		b = strconv.AppendInt(b, int64(r.At), 10)
	}
	if r.Key != "" {
		b = append(b, `,"key":`...)
		b = t.key.append(b, r.Key)
	}
	if r.RV != 0 {
		b = append(b, `,"rv":`...)
		b = t.rv.appendSigned(b, r.RV)
	}
	if r.N != 0 {
		b = append(b, `,"n":`...)
		b = head.n.appendSigned(b, r.N)
	}
	if r.Detail != "" {
		b = append(b, `,"x":`...)
		b = head.detail.append(b, r.Detail)
	}
	if r.Note != "" {
		b = append(b, `,"note":`...)
		b = appendQuoted(b, r.Note)
	}
	t.records = append(b, '}', '\n')
}

// StepEnd implements Observer.
func (t *TraceWriter) StepEnd(s *StepInfo) {
	c := &s.Choice
	b := append(t.out, `{"s":`...)
	b = t.step.appendNext(b, s.Step)
	b = append(b, `,"t":`...)
	b = t.time.appendSigned(b, t.at)
	head := t.textOf(c.Actor, c.Kind)
	b = append(b, head.choice...)
	if c.Target != 0 {
		b = append(b, `,"g":`...)
		b = head.n.append(b, uint64(c.Target))
	}
	b = append(b, `,"q":`...)
	b = head.seq.appendNext(b, uint64(c.Seq))
	if len(s.Draws) > 0 {
		b = appendDraws(b, s.Draws)
	}
	b = append(b, `,"h":"`...)
	b = appendHash(b, s.Hash)
	b = append(b, '"', '}', '\n')
	if n := len(b) - len(t.out) + len(t.records); n > maxTraceBytes && t.err == nil {
		t.err = fmt.Errorf("step %d has %d bytes of records; the limit is %d", s.Step, n, maxTraceBytes)
	}
	t.out = append(b, t.records...)
	t.records = t.records[:0]
	t.at = int64(s.At)
	t.steps = s.Step
	if len(t.out) >= flushAt {
		t.flush()
	}
}

func appendDraws(b []byte, draws []uint64) []byte {
	b = append(b, `,"d":[`...)
	for i, d := range draws {
		if i > 0 {
			b = append(b, ',')
		}
		b = append(b, '"')
		b = strconv.AppendUint(b, d, 16)
		b = append(b, '"')
	}
	return append(b, ']')
}

// Flush writes out the steps so far. A program that may die during the run calls it after each one.
func (t *TraceWriter) Flush() { t.flush() }

// InProgress returns the lines of the records of the step that has not ended. They are valid until the next one.
func (t *TraceWriter) InProgress() []byte { return t.records }

// Close writes the end line with the verdict, and with what else is to be said of the run's end: an object of JSON, or nil. It
// returns the first write error.
func (t *TraceWriter) Close(verdict string, about json.RawMessage) error {
	end, err := (&TraceEnd{Verdict: verdict, Steps: t.steps, Hash: FormatHash(t.k.Hash()), About: about}).Line()
	if err != nil {
		return err
	}
	t.out = append(t.out, end...)
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

// pairText caches the parts of lines that depend on an actor and a kind.
type pairText struct {
	kind   Kind
	record string     // {"r":KIND,"a":ACTOR
	choice string     // ,"a":ACTOR,"k":KIND
	detail quotedText // of the last record: most kinds have few different ones
	n      decimal    // of the last record, or the target of the last choice
	seq    decimal    // of the last choice
}

// textOf returns the text of a pair; an actor has only a handful.
func (t *TraceWriter) textOf(actor ActorID, kind Kind) *pairText {
	if int(actor) < len(t.pairs) {
		for _, p := range t.pairs[actor] {
			if p.kind == kind {
				return p
			}
		}
	}
	return t.addText(actor, kind)
}

func (t *TraceWriter) addText(actor ActorID, kind Kind) *pairText {
	for int(actor) >= len(t.pairs) {
		t.pairs = append(t.pairs, nil)
	}
	a, k := string(appendQuoted(nil, t.k.ActorName(actor))), string(appendQuoted(nil, kind.String()))
	p := &pairText{
		kind: kind, record: `{"r":` + k + `,"a":` + a, choice: `,"a":` + a + `,"k":` + k, n: newDecimal(), seq: newDecimal(),
	}
	t.pairs[actor] = append(t.pairs[actor], p)
	return p
}
