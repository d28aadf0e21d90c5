package scenarios

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// Options configure a run. Subject is required; the zero value of the rest runs the transcript and checks no property.
type Options struct {
	// Subject is the kind of stack under test.
	Subject subjects.Kind
	// Seed of every random stream.
	Seed uint64
	// Strategy is one of Strategies, or "guided"; "" is fifo without a mix and random with one.
	Strategy string
	// Bounds are those of the strategy exhaustive; the zero value is DefaultBounds.
	Bounds Bounds
	// Picks are what the strategy guided repeats, of an earlier run: see sim.Guided.
	Picks []sim.Pick
	// Mix adds random faults; nil for only those in the script.
	Mix *fault.Mix
	// Properties are checked after every step.
	Properties []property.Property
	// Trace receives the run's trace; nil for none.
	Trace io.Writer
	// Interleave says whether the seed interleaves the subject's goroutines.
	Interleave Interleaving
	// Versions go into the trace's header.
	Versions map[string]string
	// Observe returns more observers of the kernel.
	Observe func(*World) []sim.Observer
	// Settled is called after each command that waits: settle, advance, step, expect within=, and finally "heal".
	Settled func(w *World, command string)
	// MaxSteps limits a run that never settles; 0 means DefaultMaxSteps.
	MaxSteps uint64
	// WorkersLast makes fifo hold workers back while anything else can happen at that instant, so that runs of different subjects
	// can be compared. The trace of such a run looks like one of fifo.
	WorkersLast bool
	// ShrunkFrom is the size of the run that this one was shrunk from, for reports; "" if it was not.
	ShrunkFrom string
}

// DefaultMaxSteps is the default of Options.MaxSteps.
const DefaultMaxSteps = 50_000_000

// checkEvery is the number of steps after which a run looks whether it has to end.
const checkEvery = 256

// ConvergenceTimeout is the virtual time that a world has to converge after its faults stop. It leaves room for twice the longest
// backoff with its jitter (I12), the detection of a half-open connection (45 s), and the end of a stalled watch.
const ConvergenceTimeout = 25 * time.Minute

// Strategies are the values of Options.Strategy that need nothing else.
var Strategies = []string{"fifo", "random", "pct", "pos", Portfolio, Exhaustive}

// Portfolio stands for a strategy that the seed chooses: see StrategyOfSeed. The run, and its trace, have the name of that.
const Portfolio = "portfolio"

// StrategyOfSeed returns the strategy of a seed in a portfolio: of four neighbouring seeds, two have random, one pct and one pos.
func StrategyOfSeed(seed uint64) string {
	return [...]string{"random", "pct", "random", "pos"}[seed%4]
}

// Guided is the strategy that repeats Options.Picks.
const Guided = "guided"

// A ScriptError reports a command that failed: the input is wrong, not the subject.
type ScriptError struct {
	Pos script.Pos
	Err error
}

func (e *ScriptError) Error() string { return fmt.Sprintf("%s: %v", e.Pos, e.Err) }

// Unwrap returns the cause.
func (e *ScriptError) Unwrap() error { return e.Err }

// Run plays a scenario. An error means that the run failed (bad input, ctx done); what the stack under test does wrong is not an
// error but part of the result, and the result is complete then. See ending.go for all the ways in which a run ends.
func Run(ctx context.Context, s *Scenario, o Options) (*Result, error) {
	if o.Strategy == Portfolio {
		o.Strategy = StrategyOfSeed(o.Seed)
	}
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

func (o *Options) header(s *Scenario) (sim.Header, error) {
	h := sim.Header{
		Scenario: s.Name, Script: s.Text(), Subject: o.Subject.Name, Engine: o.Subject.Engine, Strategy: o.StrategyName(), Seed: o.Seed, Versions: o.Versions,
	}
	if o.Mix != nil {
		mix, err := json.Marshal(o.Mix)
		if err != nil {
			return h, fmt.Errorf("the fault mix: %w", err)
		}
		h.Mix = mix
	}
	if o.interleaves() {
		h.Options = map[string]string{optionInterleave: "true"}
	}
	return h, nil
}

// transcript reports that the commands run back to back.
func (o *Options) transcript() bool { return o.StrategyName() == "fifo" && o.Mix == nil }

// takesDefaults reports that what informer commands leave open has its default, and is not drawn from the seed: in a transcript, and
// in a guided run, which a reducer may turn into one.
func (o *Options) takesDefaults() bool { return o.transcript() || o.StrategyName() == Guided }

// StrategyName is the name of the strategy, also where Strategy leaves it open.
func (o *Options) StrategyName() string {
	switch {
	case o.Strategy != "":
		return o.Strategy
	case o.Mix != nil:
		return "random"
	}
	return "fifo"
}

func (o *Options) strategy() (sim.Strategy, error) {
	switch name := o.StrategyName(); name {
	case "fifo":
		if o.Mix != nil {
			return nil, errors.New("the strategy fifo never picks a fault, so it cannot be used with a fault mix; use random")
		}
		if o.WorkersLast {
			return &workersLast{}, nil
		}
		return sim.NewFIFO(), nil
	case "random":
		return sim.NewRandom(o.Seed, o.rate()), nil
	case "pct":
		return sim.NewPCT(o.Seed, o.rate()), nil
	case "pos":
		return sim.NewPOS(o.Seed, o.rate()), nil
	case Exhaustive:
		return sim.NewSearch(sim.SearchOptions{}).Again(), nil
	case Guided:
		return sim.NewGuided(o.Seed, o.Picks), nil
	default:
		hint := "use one of " + strings.Join(Strategies, ", ")
		if near := script.Suggest(name, Strategies); near != "" {
			hint = fmt.Sprintf("did you mean %q?", near)
		}
		return nil, fmt.Errorf("there is no strategy %q; %s", name, hint)
	}
}

// rate returns the rates of the mix, nil without one.
func (o *Options) rate() sim.FaultRate {
	if o.Mix == nil {
		return nil
	}
	return o.Mix.Rate
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

var kindCommand = sim.RegisterKind("command", sim.ClassScript)

// PicksCommand reports whether a pick is that of a script's command. Its target is the command's index; the index after the last
// command heals the world.
func PicksCommand(p *sim.Pick) bool { return p.Kind == kindCommand }

// scriptActor offers the script's next command; after the last one it offers "heal", which ends all faults and waits for
// the world to converge.
type scriptActor struct {
	w       *World
	id      sim.ActorID
	next    int
	starts  string // the informer that the last command restarts, which is yet to be started again; "" for none
	healing bool
	// faultsStopped reports that the strategy was told to stop faults.
	faultsStopped bool
}

func (a *scriptActor) Name() string { return "script" }

func (a *scriptActor) offer() { a.w.kernel.Offer(a.id, kindCommand, uint32(a.next)) }

func (a *scriptActor) over() bool { return a.healing }

func (a *scriptActor) Apply(c sim.Choice) {
	w := a.w
	if c.Kind == kindStart {
		if err := w.startAgain(a.starts); err != nil {
			w.kernel.Fail(&ScriptError{Pos: w.scenario.cmds[a.next-1].syntax.Pos, Err: err})
			return
		}
		a.starts = ""
		a.offer()
		return
	}
	if a.next == len(w.scenario.cmds) {
		a.healing = true
		if err := w.heal(); err != nil {
			w.kernel.Fail(err)
		}
		return
	}
	cmd := w.scenario.cmds[a.next]
	a.next++
	if err := cmd.run(w); err != nil {
		w.kernel.Fail(&ScriptError{Pos: cmd.syntax.Pos, Err: err})
		return
	}
	switch {
	case a.starts != "":
		w.kernel.Offer(a.id, kindStart, 0)
	case w.barrier == nil:
		a.offer()
	}
}

// heal stops all faults, those of handlers and workers included, ends the holds, and waits for the world to converge, at most for
// ConvergenceTimeout.
func (w *World) heal() error {
	if err := w.ensureCluster(); err != nil {
		return err
	}
	w.healedAt = w.kernel.Elapsed()
	w.cluster.StopFaults()
	for _, ws := range w.workerOrd {
		ws.ClearFaults()
		ws.Release()
	}
	for _, inf := range w.inOrder {
		inf.ClearFaults()
		for _, part := range append([]string{"queue"}, inf.Handlers()...) {
			if err := inf.Release(part); err != nil {
				return err
			}
		}
	}
	clock := w.kernel.Clock()
	w.wait("heal", func() { clock.LimitTo(ConvergenceTimeout) }, func() bool {
		return w.kernel.Quiet() && (w.Converged() || clock.AtLimit())
	})
	return nil
}
