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

	next    uint64 // the step that is in progress, or comes next
	cut     bool   // the run was cut off: nothing that happens from then on counts
	size    int    // of the trace then
	pending string // what the step in progress had done then
}

// newFlight has a run's trace written out step by step, to memory and to the file that outlives this process.
func newFlight(w *world, out *bytes.Buffer, r *runner, h sim.Header) (*flight, error) {
	trace, err := sim.NewTraceWriter(w.kernel, r.box.begin(out), h)
	if err != nil {
		return nil, err
	}
	f := &flight{w: w, trace: trace, out: out, box: r.box, interrupted: r.host.Interrupted, next: 1}
	w.kernel.Observe(trace)
	w.kernel.Observe(f)
	trace.Flush()
	return f, nil
}

// Record implements sim.Observer.
func (*flight) Record(*sim.Record) {}

// StepEnd implements sim.Observer.
func (f *flight) StepEnd(s *sim.StepInfo) { f.next = s.Step + 1 }

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
	res.count()
	end, crash := sim.EndStuck, ""
	if errors.Is(f.w.remote.peer.gone, errGone) {
		end = sim.EndDied
		if crash = f.box.died(); crash == "" && f.interrupted() != "" {
			end = sim.EndInterrupted
		}
	}
	if end != sim.EndStuck || res.stuck { // else the two processes did not understand each other, which is not the run's end
		res.cutLine(end, f.pending, crash)
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
	o.run.Steps, o.faults = o.steps, uint64(o.run.FaultTotal())
}

// cutLine ends the trace of a run that was cut off, so that a reader knows why; begun is what the step in progress had done, crash the
// panic of which the test's process has died.
func (o *outcome) cutLine(verdict, begun, crash string) {
	c, end := reports.Conclude(o.report()), sim.TraceEnd{Verdict: verdict, Steps: o.steps, Hash: sim.FormatHash(o.run.Hash)}
	c.Begun = begun
	if verdict != sim.EndStuck {
		c.Failure = crash // nobody knows more than that
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

// died says, where the test's process no longer can, which run it has died in, and keeps the trace.
func (r *runner) died(s source, f *flight, res *outcome) {
	if !errors.Is(r.peer.gone, errGone) {
		return
	}
	where := fmt.Sprintf("%s, seed %d", r.task.Test, s.header.Seed)
	if by := r.host.Interrupted(); by != "" && r.box.died() == "" {
		r.interrupted(by, where, s, f, res)
		return
	}
	head := "simtest: the process died during a run: " + where
	var file string // where the trace is wanted
	var again, later []string
	switch {
	case r.shrinking != "":
		head = "simtest: the process died while a failure was being shrunk: " + where
	case r.replaying:
		head += ", replaying " + r.task.File
		if s.replay == nil {
			file = r.path(r.task.File) // it was cut off, too
		}
		again = append(again, fmt.Sprintf("%s -simtest.replay=%s", r.task.Command, reports.ShellQuote(r.task.File)))
	case r.task.Folder != "":
		if name, err := r.traceFile(s.header.Seed); err == nil {
			file = r.path(name)
			later = append(later, fmt.Sprintf("%s -simtest.replay=%s", r.task.Command, reports.ShellQuote(name)))
		}
	}

	var b strings.Builder
	for _, line := range r.result.Logs {
		fmt.Fprintf(&b, "\n%s", line) // the test's log would have it
	}
	fmt.Fprintf(&b, "\n%s\n%s%s%s", head, r.box.exited(), r.box.mutated(), f.howFar(res))
	if r.task.Worker {
		b.WriteString(r.lastWords(r.box.log(), ""))
		fmt.Fprint(r.host.Stderr, reports.Plain(b.String()))
		return
	}
	kept, err := r.keep(file, res.trace.Bytes())
	if kept == "" {
		fmt.Fprintf(&b, "  the trace so far could not be kept: %v\n", err)
	} else if fmt.Fprintf(&b, "  the trace so far is in %s\n", kept); err != nil {
		fmt.Fprintf(&b, "  it is not where the next test would find it: %v\n", err)
	} else {
		again = append(again, later...)
	}
	again = append(again, fmt.Sprintf("%s -simtest.seed=%d", r.task.Command, s.header.Seed))
	b.WriteString(r.lastWords(r.box.log(), file))
	if r.shrinking != "" {
		fmt.Fprintf(&b, "\nThe failure was:\n\n%s\n", r.shrinking)
	} else {
		fmt.Fprintf(&b, "\n  see it again\n    %s\n", strings.Join(again, "\n    "))
	}
	fmt.Fprint(r.host.Stderr, reports.Plain(b.String()))
}

// howFar says how far a run had come that was cut off.
func (f *flight) howFar(res *outcome) string {
	text := fmt.Sprintf("  it had taken %s (%v of virtual time)\n", reports.Counted(res.steps, "step"), res.run.Virtual)
	if f != nil && f.pending != "" {
		text += fmt.Sprintf("  step %d had begun: %s\n", res.steps+1, f.pending)
	}
	return text
}

// keep writes a trace to where it is wanted, else to a temporary file, and returns where it is, "" if nowhere. The error says why it is not where it is
// wanted.
func (r *runner) keep(file string, trace []byte) (kept string, err error) {
	if file != "" {
		if err = r.host.Store(file, trace); err == nil {
			r.storePage(pageFile(file), trace)
			return file, nil
		}
	}
	kept, spare := r.host.Spare(traceSuffix, trace)
	if spare != nil {
		return "", errors.Join(err, spare)
	}
	return kept, err
}

// lastWords keeps the end of a log beside a trace, and returns its last lines.
func (r *runner) lastWords(log []byte, trace string) string {
	if len(log) == 0 {
		return ""
	}
	var b strings.Builder
	if file := logFile(trace); trace != "" && r.host.Store(file, log) == nil {
		fmt.Fprintf(&b, "  the end of its log is in %s\n", file)
	}
	fmt.Fprintf(&b, "\n  what it logged last\n    %s\n", strings.ReplaceAll(strings.Join(lastLogged(string(log)), "\n"), "\n", "\n    "))
	return b.String()
}

// path returns the place of a file that is named relative to the test's folder.
func (r *runner) path(file string) string {
	if filepath.IsAbs(file) {
		return file
	}
	return filepath.Join(r.task.Folder, file)
}

// diedAfter says of a process that died after a run, because a context has ended in which goroutines of the run wait, why it did. Nothing else would: Go's own message names neither,
// and a testing library that prints a failure at the end of its test does not come to that.
func (r *runner) diedAfter() {
	if r.task.Worker || !r.box.canceledFromOutside() {
		return
	}
	var b strings.Builder
	fmt.Fprintf(&b, "\nsimtest: the process died after a run, of %s, seed %d: a context that was made outside of simtest.Run has ended, and goroutines of the run have waited for it, which Go does "+
		"not allow. Give processes the context that env.Go passes them, or env.Context(), not the test's, a suite's or a spec's.\n", r.task.Test, r.result.Seed)
	if r.result.Failure != "" {
		fmt.Fprintf(&b, "\nThe run had failed:\n\n%s\n", r.result.Failure)
	}
	fmt.Fprint(r.host.Stderr, reports.Plain(b.String()))
}
