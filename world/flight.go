package world

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// flight is what is known of a run that may not come to its end: its test's process dies, or a goroutine there never rests again.
type flight struct {
	w     *world
	trace *sim.TraceWriter
	out   *bytes.Buffer // what the trace is written to
	box   *blackBox

	interrupted func() string // Host.Interrupted

	step    uint64    // the one that is in progress, or comes next
	cut     bool      // the run was cut off: nothing that happens from then on counts
	size    int       // of the trace then
	pending string    // what the step in progress had done then
	next    *sim.Pick // its choice, nil between two steps
}

// newFlight has a run's trace written out step by step, to memory and to the file that outlives this process.
func newFlight(w *world, out *bytes.Buffer, r *runner, h sim.Header) (*flight, error) {
	h.Versions = r.versions()
	trace, err := sim.NewTraceWriter(w.kernel, r.box.begin(out), h)
	if err != nil {
		return nil, err
	}
	f := &flight{w: w, trace: trace, out: out, box: r.box, interrupted: r.host.Interrupted, step: 1}
	w.kernel.Observe(trace)
	w.kernel.Observe(f)
	trace.Flush()
	return f, nil
}

// Record implements sim.Observer.
func (*flight) Record(*sim.Record) {}

// StepEnd implements sim.Observer.
func (f *flight) StepEnd(s *sim.StepInfo) { f.step = s.Step + 1 }

// leave is called before the test's process is told to go on: what has happened so far is out of danger.
func (f *flight) leave() {
	if !f.cut {
		f.trace.Flush()
	}
}

// cutOff ends the trace where it is, in the middle of a step or between two.
func (f *flight) cutOff(timePasses bool) {
	if f.cut {
		return
	}
	f.trace.Flush()
	f.cut, f.size, f.pending = true, f.out.Len(), describe(timePasses, f.trace.InProgress())
	if p, ok := f.w.kernel.UnderWay(); ok {
		f.next = &p
	}
}

// outcome is what is left of a run that was cut off: what its trace has.
func (f *flight) outcome(of *outcome) *outcome {
	res := newOutcome(of.header)
	res.run.Mix, res.run.Configuration = of.run.Mix, of.run.Configuration
	res.run.Hash = of.header.Digest()
	res.testFailed, res.stuck, res.log, res.err = of.testFailed, of.stuck, of.log, of.err
	res.trips, res.queries = of.trips, of.queries
	if !of.stuck && f.w.remote.peer.gone == nil {
		return res // the bubble could not be made
	}
	res.trace.Write(of.trace.Bytes()[:f.size])
	res.next = f.next
	res.count()
	end := sim.EndStuck
	if errors.Is(f.w.remote.peer.gone, errGone) {
		end, res.dead, res.crash = sim.EndDied, true, f.box.died()
		res.tail = f.box.log()
		switch {
		case res.crash != "":
		case f.box.another != nil:
			res.dead = false // it was killed
		case f.interrupted() != "":
			end, res.dead = sim.EndInterrupted, false
		}
	}
	if end != sim.EndStuck || res.stuck { // else the two processes did not understand each other, which is not the run's end
		res.cutLine(end, f.pending)
	}
	if f.pending != "" && res.stuck {
		res.err = fmt.Errorf("%w\n\nThat was after %d steps, at %v; step %d had begun: %s", of.err, res.steps, res.run.Virtual, res.steps+1, f.pending)
	}
	return res
}

// count counts what a trace that was cut off has.
func (o *outcome) count() {
	tr, err := sim.NewTraceReader("the run", bytes.NewReader(o.trace.Bytes()))
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
	if o.next != nil && o.next.Fault() {
		o.run.CountFault(o.next.Kind.String())
	}
	o.run.Steps, o.faults = o.steps, uint64(o.run.FaultTotal())
}

// cutLine ends the trace of a run that was cut off, so that a reader knows why; begun is what the step in progress had done.
func (o *outcome) cutLine(verdict, begun string) {
	c, end := reports.Conclude(o.report()), sim.TraceEnd{Verdict: verdict, Steps: o.steps, Hash: sim.FormatHash(o.run.Hash)}
	c.Begun = begun
	if o.next != nil {
		c.Next = reports.NextOf(o.next)
	}
	if verdict != sim.EndStuck {
		c.Failure = o.crash // nobody knows more than that
	}
	var err error
	if end.About, err = c.JSON(); err != nil {
		return
	}
	if line, err := end.Line(); err == nil {
		o.trace.Write(line)
	}
}

// endless reports whether the run that wrote a trace never came to its end. What was to be picked next is not known, so only its seed repeats
// the run.
func endless(trace []byte) bool {
	trace = bytes.TrimRight(trace, "\r\n")
	last := trace[bytes.LastIndexByte(trace, '\n')+1:]
	var end sim.TraceEnd
	return !bytes.HasPrefix(last, []byte(`{"end":`)) || json.Unmarshal(last, &end) == nil && (end.CutOff() || end.Verdict == sim.EndInterrupted)
}

// describe puts on one line what a step has done so far, which it has as the lines of its records.
func describe(timePasses bool, records []byte) string {
	var parts []string
	if timePasses {
		parts = append(parts, "time passes")
	}
	for line := range bytes.Lines(records) {
		var e struct {
			Kind   string `json:"r"`
			Actor  string `json:"a"`
			Key    string `json:"key"`
			Detail string `json:"x"`
		}
		if json.Unmarshal(line, &e) != nil {
			continue
		}
		words := e.Actor + ": " + e.Kind
		for _, w := range []string{e.Key, e.Detail} {
			if w != "" {
				words += " " + w
			}
		}
		parts = append(parts, words)
	}
	return strings.Join(parts, "; ")
}

// howFar says how far a run had come that was cut off.
func (f *flight) howFar(res *outcome) string {
	text := fmt.Sprintf("  it had taken %s (%v of virtual time)\n", reports.Counted(res.steps, "step"), res.run.Virtual)
	if f != nil && f.pending != "" {
		text += fmt.Sprintf("  step %d had begun: %s\n", res.steps+1, f.pending)
	}
	return text
}

// path returns the place of a file that is named relative to the test's folder.
func (r *runner) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(r.task.Folder, file)
}
