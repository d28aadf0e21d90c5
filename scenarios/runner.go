package scenarios

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// checkEvery is the number of steps after which a run looks whether it has to end.
const checkEvery = 256

// ConvergenceTimeout is the virtual time that a world has to converge after its faults stop. It leaves room for twice the longest
// backoff with its jitter (I12), the detection of a half-open connection (45 s), and the end of a stalled watch.
const ConvergenceTimeout = 25 * time.Minute

// Run plays a scenario. An error means that the run failed (bad input, ctx done); what the stack under test does wrong is not an
// error but part of the result, and the result is complete then. See ending.go for all the ways in which a run ends.
func Run(ctx context.Context, s *Scenario, o Options) (*Result, error) {
	if o.Mix != nil {
		drawn := o.Mix.Draw(o.Seed)
		if o.StrategyName() == Exhaustive { // it has all kinds, one after the other
			drawn = *o.Mix
			drawn.Swarm = false
		}
		o.Mix = &drawn
	}
	if !o.takesDefaults() {
		var err error
		if s, err = s.configured(o.Seed, o.Subject); err != nil {
			return nil, err
		}
	}
	if err := s.checkExpected(o.Properties); err != nil {
		return nil, err
	}
	header, err := o.header(s)
	if err != nil {
		return nil, err
	}
	strategy, err := o.strategy()
	if err != nil {
		return nil, err
	}
	if o.StrategyName() == Exhaustive {
		return searched(ctx, s, &o, header)
	}
	return hosted(ctx, s, &o, header, strategy, nil)
}

// hosted plays a scenario inside the subject's host, if it has one.
func hosted(ctx context.Context, s *Scenario, o *Options, header sim.Header, strategy sim.Strategy, replay *sim.Replay) (*Result, error) {
	if err := s.Fits(o.Subject); err != nil {
		return nil, err
	}
	host, err := hostOf(o.Subject, &header)
	if err != nil {
		return nil, err
	}
	var w *World
	var trace *sim.TraceWriter
	var stepped func()
	play := func() {
		if w, trace, err = newWorld(ctx, s, o, header, strategy, replay); err == nil {
			w.stepped = stepped
			err = w.loop(strategy)
		}
	}
	if host == nil && o.Subject.Watch != nil {
		host = func(_ uint64, run func()) error {
			return o.Subject.Watch(func(f func()) {
				stepped = f
				run()
			})
		}
	}
	if host == nil {
		play()
	} else if herr := host(o.Seed, play); herr != nil {
		if w == nil {
			return nil, herr
		}
		if herr = w.blame(herr); err == nil {
			err = herr
		}
	}
	if w == nil {
		return nil, err
	}
	w.finish()
	if trace != nil {
		verdict := w.result.Verdict()
		if err != nil {
			verdict = endedBy(err)
		}
		if terr := closeTrace(trace, verdict, w.result, err); err == nil {
			err = terr
		}
	}
	return w.result, err
}

// closeTrace writes the end of a run's trace. failed is the error with which the run ended, nil for none.
func closeTrace(trace *sim.TraceWriter, verdict string, r *Result, failed error) error {
	c := reports.Conclude(&r.Run)
	if failed != nil && verdict == "error" { // how long an interrupted run took is no part of it
		c.Failure = failed.Error()
	}
	about, err := c.JSON()
	if err != nil {
		return err
	}
	return trace.Close(verdict, about)
}

// newWorld returns the world of a run, and the writer of its trace, nil for none.
func newWorld(ctx context.Context, s *Scenario, o *Options, header sim.Header, strategy sim.Strategy, replay *sim.Replay) (*World, *sim.TraceWriter, error) {
	if o.Subject.New == nil {
		return nil, nil, errors.New("scenarios: Options.Subject is not set")
	}
	if err := property.Validate(o.Properties); err != nil {
		return nil, nil, fmt.Errorf("scenarios: Options.Properties: %w", err)
	}
	ko := sim.Options{Seed: o.Seed, Strategy: strategy, Start: header.Digest()}
	if replay != nil {
		ko.Tape = replay
	}
	if guide, guided := strategy.(*sim.Guided); guided {
		ko.Tape = guide
	}
	k := sim.NewKernel(ko)
	if bound, ok := strategy.(interface{ Bind(*sim.Kernel) }); ok {
		bound.Bind(k)
	}
	w := &World{
		ctx: ctx, scenario: s, options: o, kernel: k,
		transcript: o.transcript(), takesDefaults: o.takesDefaults(),
		resources: map[string]store.ResourceID{}, informers: map[string]subjects.Informer{},
		handlers: map[string]subjects.Informer{}, writers: map[string]*writer{}, workers: map[string]subjects.Workers{}, stopped: map[string]bool{},
		result: &Result{
			Run:     reports.Run{Scenario: s.Name, Subject: o.Subject.Name, Engine: o.Subject.Engine, Strategy: header.Strategy, Seed: o.Seed},
			Outputs: map[*script.Command]string{},
		},
	}
	if o.Mix != nil {
		w.result.Mix = o.Mix.Name
	}
	w.result.Informers = s.Configurations(w.takesDefaults)
	w.script = &scriptActor{w: w}
	w.script.id = k.Register(w.script)
	var judged []property.Property
	judged, w.result.Unjudged = property.Judged(o.Properties, o.Subject.Lacks)
	w.monitor = property.NewMonitor(w, judged)
	w.result.Properties = property.Names(judged)
	k.Observe(newTally(w))
	k.Observe(w.monitor)
	if replay != nil {
		k.Observe(replay)
	}
	if o.Observe != nil {
		for _, ob := range o.Observe(w) {
			k.Observe(ob)
		}
	}
	var trace *sim.TraceWriter
	if o.Trace != nil {
		var err error
		if trace, err = sim.NewTraceWriter(k, o.Trace, header); err != nil {
			return nil, nil, err
		}
		k.Observe(trace)
	}
	return w, trace, nil
}

// endedBy returns the verdict of a run that ended with an error.
func endedBy(err error) string {
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return sim.EndTimeout
	case errors.Is(err, context.Canceled):
		return sim.EndInterrupted
	}
	return "error"
}

// loop steps the kernel until the script is done and the world has converged, a property breaks, or no step is possible.
func (w *World) loop(strategy sim.Strategy) (err error) {
	defer w.endOfPanic(&err)
	k := w.kernel
	limit := w.options.MaxSteps
	if limit == 0 {
		limit = DefaultMaxSteps
	}
	w.freeTime()
	w.script.offer()
	for {
		if w.barrier != nil && w.barrier.done() {
			if w.options.Settled != nil {
				w.options.Settled(w, w.barrier.what)
			}
			w.barrier = nil
			if w.script.over() {
				w.monitor.End()
				return nil
			}
			w.freeTime()
			w.script.offer()
		}
		if !k.Step() {
			return w.blame(w.stuck())
		}
		if w.stepped != nil {
			w.stepped()
		}
		if w.script.healing && !w.script.faultsStopped {
			w.script.faultsStopped = true
			if f, ok := strategy.(interface{ StopFaults() }); ok {
				f.StopFaults()
			}
		}
		if w.monitor.Violation() != nil {
			return k.Err()
		}
		steps := k.Steps()
		if steps%checkEvery != 0 && w.overtime == nil {
			continue
		}
		if err := w.outOfTime(); err != nil {
			return err
		}
		if steps >= limit {
			w.monitor.Report(property.NoLivelock, &reports.Violation{Message: fmt.Sprintf("the run has not ended after %d steps", steps)})
			return nil
		}
	}
}

// stuck explains why no step is possible.
func (w *World) stuck() error {
	if err := w.kernel.Err(); err != nil {
		var se *ScriptError
		if errors.As(err, &se) {
			return se
		}
		return err
	}
	if w.barrier == nil {
		return stuckError{&sim.DefectError{Why: "the script neither offers a command nor waits for one"}}
	}
	return stuckError{&sim.DefectError{Why: fmt.Sprintf("no step is possible, but %s still waits", w.barrier.what)}}
}

// stuckError means that no choice was made although the run is not over.
type stuckError struct{ *sim.DefectError }

func (e stuckError) Unwrap() error { return e.DefectError }

func (w *World) finish() {
	r, k := w.result, w.kernel
	r.Steps, r.Virtual, r.Hash = k.Steps(), k.Elapsed(), k.Hash()
	r.Violation, r.Statement, r.Checked = w.monitor.Violation(), w.monitor.Statement(), w.monitor.Checked()
	if w.cluster != nil {
		r.Refused = w.refused()
	}
	r.ShrunkFrom = w.options.ShrunkFrom
	if w.script.healing {
		r.Converging = k.Elapsed() - w.healedAt
	}
	r.Expected, r.Transcript, r.Missed = w.scenario.expectedViolation(), w.transcript, w.missed()
	if !w.transcript {
		r.Unchecked = w.scenario.Expectations()
	}
}
