package simtest

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/internal/blackbox"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// flight has the trace of a run grow on disk, step by step, for a run that does not come to its end: the process dies, or a goroutine
// never blocks again.
type flight struct {
	box   *blackbox.Box
	trace *sim.TraceWriter
}

// Record implements sim.Observer.
func (*flight) Record(*sim.Record) {}

// StepEnd implements sim.Observer.
func (f *flight) StepEnd(*sim.StepInfo) { f.trace.Flush() }

// pending notes what the step in progress has done so far, before the goroutines that it woke run.
func (f *flight) pending(timePasses bool) {
	if f == nil {
		return
	}
	if records := f.trace.InProgress(); timePasses || len(records) > 0 {
		f.box.Pending(timePasses, records)
	}
}

// traceInto returns where a trace is written to.
func traceInto(memory io.Writer, box *blackbox.Box) io.Writer {
	if box == nil {
		return memory
	}
	return io.MultiWriter(memory, box)
}

var boxProblem sync.Once

// blackBox returns the process's black box, nil if there is none.
func (r *runner) blackBox() *blackbox.Box {
	box, err := blackbox.Open()
	if err == nil && box.Err() != nil {
		err = box.Err()
	}
	if err != nil {
		boxProblem.Do(func() {
			logf(r.t, "simtest: if this process dies during a run, nothing will say which: %v", err)
		})
	}
	return box
}

// record has the box record a run until stop is called.
func (r *runner) record(box *blackbox.Box, s source) (stop func()) {
	if box == nil {
		return func() {}
	}
	box.Begin(r.notice(s))
	return box.End
}

// notice is what is said if the process dies during a run.
func (r *runner) notice(s source) blackbox.Notice {
	where := fmt.Sprintf("%s, seed %d", r.t.Name(), s.header.Seed)
	n := blackbox.Notice{Head: "simtest: the process died during a run: " + where}
	var again []string
	switch {
	case r.shrinking != "":
		n.Head = "simtest: the process died while a failure was being shrunk: " + where
		n.Tail = "The failure was:\n\n" + r.shrinking
		return n
	case r.replaying != "":
		n.Head += ", replaying " + r.replaying
		if file, err := filepath.Abs(r.replaying); err == nil && s.replay == nil {
			n.Trace = file // it was cut off, too
		}
		again = append(again, fmt.Sprintf("%s -simtest.replay=%s", r.line, reports.ShellQuote(r.replaying)))
	case r.storesTraces():
		if file, err := filepath.Abs(r.traceFile(s.header.Seed)); err == nil {
			n.Trace, n.Log = file, logFile(file)
		}
		again = append(again, fmt.Sprintf("%s -simtest.replay=%s", r.line, reports.ShellQuote(r.traceFile(s.header.Seed))))
	}
	again = append(again, fmt.Sprintf("%s -simtest.seed=%d", r.line, s.header.Seed))
	n.Tail = "  see it again\n    " + strings.Join(again, "\n    ")
	n.Head, n.Tail = reports.Plain(n.Head), reports.Plain(n.Tail)
	return n
}

// cutOff reports whether a trace has no end: the run that wrote it never came to its own. What was to be picked next is not known, so
// only its seed repeats the run.
func cutOff(trace []byte) bool {
	trace = bytes.TrimRight(trace, "\r\n")
	return !bytes.HasPrefix(trace[bytes.LastIndexByte(trace, '\n')+1:], []byte(`{"end":`))
}

// stuckOutcome is the outcome of a run with a goroutine that never blocks again. The run's goroutines are still there, so nothing that
// they use may be touched: what is known comes from the file.
// If the run was over, and only its goroutines did not end, its outcome stands.
func stuckOutcome(h sim.Header, box *blackbox.Box, stuck error, played *outcome) *outcome {
	if played != nil {
		if box != nil {
			box.End()
		}
		played.unended = stuck
		if !played.failed() {
			played.err = fmt.Errorf("the run has ended, and its context is canceled, but a goroutine goes on: %w", stuck)
		}
		return played
	}
	res := newOutcome(h)
	res.err = stuck
	res.run.Hash = h.Digest()
	if mix, err := fault.ParseMix(h.Mix); err == nil {
		res.run.Mix = mix.Name
	}
	if box == nil {
		return res
	}
	complete, pending, err := box.Read()
	box.End()
	if err != nil {
		return res
	}
	res.trace.Write(complete)
	res.count(complete)
	if pending != "" {
		res.err = fmt.Errorf("%w\n\nThat was after %d steps, at %v; step %d had begun: %s", stuck, res.steps, res.run.Virtual, res.steps+1, pending)
	}
	return res
}

// count counts what a trace that was cut off has.
func (o *outcome) count(trace []byte) {
	tr, err := sim.NewTraceReader("the run", bytes.NewReader(trace))
	if err != nil {
		return
	}
	t := &tally{&o.run}
	for {
		s, err := tr.Next()
		if err != nil {
			break // it has no end
		}
		o.steps, o.run.Virtual = s.Step, time.Duration(s.At)
		for i := range s.Records {
			if kind, ok := sim.KindByName(s.Records[i].Kind); ok {
				t.Record(&sim.Record{Kind: kind, Detail: s.Records[i].Detail})
			}
		}
		if hash, err := strconv.ParseUint(s.Hash, 16, 64); err == nil {
			o.run.Hash = hash
		}
	}
	o.run.Steps, o.faults = o.steps, uint64(o.run.FaultTotal())
}
