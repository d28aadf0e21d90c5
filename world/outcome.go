package world

import (
	"bytes"
	"maps"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wellbehaved"
	"github.com/informersim/informersim/world/wire"
)

// outcome is the outcome of a run.
type outcome struct {
	header     sim.Header
	run        reports.Run
	violation  *reports.Violation
	err        error // the run could not be carried out
	escaped    *escape
	testFailed bool  // the body, or a check, has failed its test
	stuck      bool  // the bubble never came to rest, so that no other run can be made in that process
	replay     error // how it diverged from the trace
	trace      bytes.Buffer
	steps      uint64
	faults     uint64
	sometimes  map[string]bool
	aimed      map[string]bool       // of clients that faults are aimed at, whether they made a request
	clients    []string              // those that made requests, if one of aimed did not
	anyway     []wellbehaved.Writing // what controllers write in a run that is spared
	struck     []reports.FaultCount  // of which none is a ready-made property's own
	restarted  bool                  // processes were restarted at the end, for a ready-made property
	idle       bool                  // no client has made a request, but for the workload's
	exited     map[string]string     // then, by process, the error that its function returned last
	waiting    []string              // where goroutines of the program's own waited when the body had failed
	log        *log
	unended    error // what kept goroutines from ending after the run
	trips      uint64
	queries    uint64
	streamed   bool          // a client has asked for a streaming list, and the server has them
	page       string        // the file with its HTML report, "" for none
	twin       *reports.Twin // the nearest run that passes, nil if it was not looked for
	fleeting   bool          // it breaks nothing when it is made once more
	cutOff     bool          // it was made because the trace of another has no end
	played     bool          // it has come to the end of the trace of another that was cut off
	dead       bool          // it has ended its process
	crash      string        // of what, "" if that is not known
	tail       []byte        // the end of its log then
	next       *sim.Pick     // the choice of the step in which it was cut off, nil for none

	own        []string // the clients of the body's own
	inForce    []string // the faults that last at the end
	notRunning []string // the processes that do not run then
	unattended []string // the objects that nobody acts on in this cluster
	deleted    []string // what the run has deleted after the body
}

func newOutcome(h sim.Header) *outcome { return &outcome{header: h, run: runOf(h)} }

// runOf describes the run of a trace's header.
func runOf(h sim.Header) reports.Run {
	return reports.Run{Scenario: h.Scenario, Subject: h.Subject, Engine: h.Engine, Strategy: h.Strategy, Seed: h.Seed, ShrunkFrom: h.Options[optionShrunk], APIOnly: true}
}

// finish fills in the outcome.
func (w *world) finish(res *outcome) {
	k := w.kernel
	res.run = w.run
	res.run.Steps, res.run.Virtual, res.run.Hash, res.run.Violation = k.Steps(), k.Elapsed(), k.Hash(), w.monitor.Violation()
	if w.stopped {
		res.run.Converging = k.Elapsed() - w.stoppedAt
	}
	res.run.Statement, res.run.Checked = w.monitor.Statement(), w.monitor.Checked()
	res.violation, res.steps, res.faults = res.run.Violation, res.run.Steps, uint64(res.run.FaultTotal())
	res.sometimes = maps.Clone(w.sometimes)
	res.aimed, res.clients = w.targets()
	if res.idle = len(w.asking()) == 0; res.idle {
		res.exited = w.exited()
	}
	res.waiting = w.remote.waiting
	res.streamed = w.streamed && w.config.watchList
	res.struck = w.run.Faults
	if b := w.behaved; b != nil && b.after {
		res.struck = b.struck
	}
	if b := w.behaved; b != nil {
		res.restarted, res.anyway, res.deleted = b.restarted > 0, b.anyway, b.deletedAtEnd()
	}
	res.own, res.inForce, res.notRunning, res.unattended = w.own(), w.inForce(), w.notRunning(), w.unattended()
	res.escaped, res.trips, res.queries = w.body.escaped, w.remote.trips, w.remote.queries
	if err := k.Err(); err != nil && res.err == nil {
		res.err = err
	}
}

func (o *outcome) failed() bool { return o.violation != nil || o.err != nil || o.escaped != nil }

// passed is what the summary of all seeds needs of one.
func (o *outcome) passed() *wire.Passed {
	p := &wire.Passed{Virtual: o.run.Virtual - o.run.Converging, Calm: o.run.Converging, Faults: map[string]int{}, Sometimes: o.sometimes, Aimed: o.aimed, Clients: o.clients, Reconciles: o.run.Reconciles, Restarted: o.restarted, Idle: o.idle, Exited: o.exited}
	for _, f := range o.struck {
		p.Faults[f.Name] += f.Count
	}
	return p
}

// why says what broke.
func (o *outcome) why() string {
	switch e := o.escaped; {
	case o.violation != nil:
		return o.violation.Error()
	case o.err != nil:
		return o.err.Error()
	case e.skips:
		return "the body has skipped the test, in the middle of a run: skip it before simtest.Run"
	case e.goexit:
		return "the body failed the test"
	default:
		return "the body panicked: " + e.text
	}
}

// report returns the run as package reports presents it.
func (o *outcome) report() *reports.Run {
	r := o.run
	if o.failed() && o.violation == nil {
		r.Failure = o.why()
	}
	return &r
}

// close writes the end of the run's trace.
func (o *outcome) close(trace *sim.TraceWriter) error {
	r := o.report()
	c := reports.Conclude(r)
	c.InForce, c.Down, c.Unattended = o.inForce, o.notRunning, o.waitsInVain()
	about, err := c.JSON()
	if err != nil {
		return err
	}
	return trace.Close(r.Verdict(), about)
}

// read returns a reader of the run's trace.
func (o *outcome) read() (*sim.TraceReader, error) {
	return sim.NewTraceReader("the run", bytes.NewReader(o.trace.Bytes()))
}

// story returns the last events of the trace.
func (o *outcome) story() []reports.Line {
	if o.trace.Len() == 0 {
		return nil
	}
	tr, err := o.read()
	if err != nil {
		return nil // the run failed before it began
	}
	story, _ := reports.Ending(tr) // a truncated trace still has a story
	return story
}
