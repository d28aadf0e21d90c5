package simtest

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sort"
	"strings"
	"sync/atomic"
	"time"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/internal/blackbox"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// Run calls body once for each seed, in a world of its own, and fails t at the first seed that breaks something. Stored traces of
// earlier failures, under testdata/simtest, are replayed first. Run returns after all goroutines started in its worlds have
// ended.
func Run(t TB, o Options, body func(env *Env)) {
	r := newRunner(t, o, body)
	t.Helper()
	switch {
	case flags.replay != "":
		r.replayOne(flags.replay)
	case flags.seed != 0:
		r.seed(flags.seed)
		r.summarize()
	default:
		r.replayStored()
		n := r.o.Seeds
		if flags.seeds > 0 {
			n = flags.seeds
		}
		for seed := uint64(1); seed <= uint64(n); seed++ {
			r.seed(seed)
		}
		r.summarize()
	}
}

// newRunner checks Run's arguments.
func newRunner(t TB, o Options, body func(env *Env)) *runner {
	if isNil(t) {
		panic("simtest: Run needs the t of a test, got nil")
	}
	t.Helper()
	if body == nil {
		fatal(t, "simtest: Run needs a body, got nil")
	}
	if inBubble() {
		fatal(t, "simtest: Run was called inside a synctest bubble (another Run's, or synctest.Test's): call it outside, it makes its own")
	}
	if err := o.complete(); err != nil {
		fatal(t, "simtest: %v", err)
	}
	mapper, err := newResourceMapper(&o)
	if err != nil {
		fatal(t, "simtest: %v", err)
	}
	pkg := packageOf(body)
	return &runner{t: t, o: &o, mapper: mapper, body: body, pkg: pkg, line: commandLine(t, pkg), done: newSummary()}
}

// inBubble reports whether the caller's goroutine is in a bubble.
func inBubble() bool {
	buf := make([]byte, 256)
	state, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), "\n")
	return strings.Contains(state, "synctest bubble")
}

// fatal fails the test and ends its goroutine.
func fatal(t TB, format string, args ...any) {
	t.Helper()
	t.Errorf("%s", reports.Plain(fmt.Sprintf(format, args...)))
	t.FailNow()
}

// logf logs what may hold text of a trace.
func logf(t TB, format string, args ...any) {
	t.Helper()
	t.Logf("%s", reports.Plain(fmt.Sprintf(format, args...)))
}

// runner runs the seeds of one call of Run.
type runner struct {
	t         TB
	o         *Options
	mapper    *resourceMapper
	body      func(*Env)
	pkg       string   // the import path of the test
	line      string   // the command that runs only this test
	done      *summary // what passed
	replaying string   // the file of the trace that is being replayed, "" for none
	shrinking string   // the report of the failure that is being shrunk, "" for none
}

// seed runs one seed and fails the test if it fails.
func (r *runner) seed(seed uint64) {
	r.t.Helper()
	h, err := header(r.o, r.t.Name(), r.pkg, seed)
	if err != nil {
		fatal(r.t, "simtest: %v", err)
	}
	res := r.play(source{header: h})
	if (flags.verify || r.o.Verify) && !res.failed() {
		r.verify(h, res)
	}
	if res.failed() {
		r.summarizeBefore()
		res = r.shrink(res)
		r.report(res, r.store(res))
	}
	r.done.add(res)
}

// verify runs a seed again and compares.
func (r *runner) verify(h sim.Header, first *outcome) {
	r.t.Helper()
	tr, err := sim.NewTraceReader("the first run", &first.trace)
	if err != nil {
		fatal(r.t, "simtest: %v", err)
	}
	second := r.play(source{header: h, replay: sim.NewReplay(tr)})
	switch {
	case second.replay != nil:
		fatal(r.t, "simtest: seed %d does not repeat: %v\n%s\n  run it twice:  %s -simtest.verify -simtest.seed=%d", h.Seed, second.replay, whyNotRepeated(), r.line, h.Seed)
	case second.failed():
		fatal(r.t, "simtest: seed %d does not repeat: it passed the first time, and then: %s", h.Seed, second.why())
	}
}

// whyNotRepeated explains the usual reasons why two runs of a seed differ.
func whyNotRepeated() string {
	if bubble.Seeded() {
		return "Something in the bubble is not deterministic. The seed does not decide the order of a map with more than eight keys that are " +
			"or contain pointers, real time, real I/O, and what outlives a run in package variables; and, if the process has begun with several " +
			"processors, sometimes which of two goroutines runs first: try it with GOMAXPROCS=1 in the environment."
	}
	return "Something in the bubble is not deterministic: usually a range over a map (client-go has some: a streaming list, Store.List, the replay to " +
		"late handlers), a select among several ready channels, or timers due at the same instant. Go leaves their order to chance; build the " +
		"test with an overlay of its runtime to let the seed decide: " + overlayHint
}

// whyNoReplay explains the usual reasons why a run diverges from its trace.
func whyNoReplay(h sim.Header) string {
	switch seeded := h.Options[optionRuntime] == runtimeSeeded; {
	case seeded && !bubble.Seeded():
		return "The trace comes from a test built with the overlay of Go's runtime, and this one is not: " + overlayHint
	case !seeded && bubble.Seeded():
		return "The trace comes from a test built without the overlay of Go's runtime, and this one has it: build it without -overlay."
	}
	return "The test, the controller or a library has changed since, or the run is not deterministic: check with -simtest.verify."
}

// overlayHint is the command that builds a test with the overlay.
const overlayHint = `go test -overlay="$(informersim overlay)"`

// replayStored replays the traces of earlier failures. A trace that no longer fits the program is not a failure; its seed is run
// again instead.
func (r *runner) replayStored() {
	r.t.Helper()
	if !r.storesTraces() {
		return
	}
	files, err := filepath.Glob(filepath.Join(traceFolder, traceName(r.t.Name())+"-*"+traceSuffix))
	if err != nil {
		return // the pattern is ours: only a strange test name can make it malformed
	}
	sort.Strings(files)
	for _, file := range files {
		res, err := r.replay(file)
		switch {
		case err != nil:
			logf(r.t, "simtest: %s cannot be replayed and is skipped: %v", file, err)
		case res.replay == nil && res.failed():
			r.report(res, file)
		case res.replay != nil:
			logf(r.t, "simtest: %s no longer fits the program (%v): running its seed again. %s", file, firstLine(res.replay.Error()), whyNoReplay(res.header))
			r.seed(res.header.Seed)
		default:
			logf(r.t, "simtest: %s passes now", file)
		}
	}
}

// replayOne replays the trace named by a flag.
func (r *runner) replayOne(file string) {
	r.t.Helper()
	res, err := r.replay(file)
	switch {
	case err != nil:
		fatal(r.t, "simtest: %v", err)
	case res == nil:
	case res.replay != nil && !res.failed():
		r.differs(file, res)
	case res.failed():
		r.report(res, file)
	default:
		logf(r.t, "simtest: %s passes now: it is the same run, step by step, and nothing breaks", file)
	}
}

// Without the overlay, a trace is replayed until it fits, within these limits on attempts and real time. Maps have another order
// each time, also inside client-go: a streaming list and the replay of a store to a late handler come in such an order, and
// what a worker then does first is a matter of luck.
const (
	replayTries  = 500
	replayBudget = 20 * time.Second
)

// replay replays a trace; it returns nil if the trace is another test's.
func (r *runner) replay(file string) (*outcome, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
	r.replaying = file
	defer func() { r.replaying = "" }()
	var res *outcome
	started := time.Now()
	for try := 0; try == 0 || try < replayTries && time.Since(started) < replayBudget; try++ {
		tr, err := sim.NewTraceReader(file, bytes.NewReader(data))
		if err != nil {
			return nil, err
		}
		h := tr.Header()
		if h.Subject != subject || h.Scenario != r.t.Name() {
			if flags.replay != "" {
				logf(r.t, "simtest: %s is a trace of %s, not of this test", file, h.Scenario)
				return nil, nil
			}
			return nil, fmt.Errorf("it is a trace of %s", h.Scenario)
		}
		if cutOff(data) {
			logf(r.t, "simtest: %s is the trace of a run during which its process died or hung: running its seed again", file)
			return r.play(source{header: h}), nil
		}
		again := r.play(source{header: h, replay: sim.NewReplay(tr)})
		if res == nil || again.replay == nil || again.steps > res.steps {
			res = again
		}
		var diverged *sim.DivergedError
		otherBuild := (h.Options[optionRuntime] == runtimeSeeded) != bubble.Seeded()
		if !errors.As(again.replay, &diverged) || bubble.Seeded() || otherBuild && flags.replay == "" {
			break
		}
	}
	return res, nil
}

// play makes one run in a bubble of its own.
func (r *runner) play(s source) *outcome {
	res := newOutcome(s.header)
	var w *world
	var played atomic.Pointer[outcome]
	box := r.blackBox()
	// With one processor, goroutines of the user's that wake at the same time take turns in the same order every time, so which of
	// them is first to add to a queue does not depend on which processor is faster. The race detector shuffles them even so.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	o := bubble.Options{QuiescenceTimeout: r.o.RealQuiescenceTimeout, TakeOver: func() (restore func()) { return r.record(box, s) }}
	err := bubble.Run(s.header.Seed, o, func() {
		w = r.inBubble(s, res, box, &played)
	})
	if w != nil {
		w.ended.Store(true)
	}
	var stuck *bubble.StuckError
	switch {
	case err == nil:
	case errors.As(err, &stuck):
		return stuckOutcome(s.header, box, err, played.Load())
	case res.violation == nil && res.err == nil && res.escaped == nil:
		res.err = err
	}
	if s.replay != nil {
		res.replay = s.replay.Finish()
		var diverged *sim.DivergedError
		if errors.As(res.err, &diverged) {
			res.err, res.replay = nil, diverged
		}
	}
	return res
}

// inBubble makes the run, on the goroutine that owns the kernel.
func (r *runner) inBubble(s source, res *outcome, box *blackbox.Box, played *atomic.Pointer[outcome]) *world {
	before := runtime.NumGoroutine()
	w, err := newWorld(r.t, r.o, r.mapper, s, newLogBook(box))
	if err != nil {
		res.err = err
		return nil
	}
	trace, err := sim.NewTraceWriter(w.kernel, traceInto(&res.trace, box), s.header)
	if err != nil {
		res.err = err
		return w
	}
	w.kernel.Observe(trace)
	if box != nil {
		w.flight = &flight{box: box, trace: trace}
		w.kernel.Observe(w.flight)
		trace.Flush()
	}
	env := &Env{w: w, rand: rand.New(rand.NewPCG(w.seed, 0x656e76))}
	w.play(func() { r.body(env) })
	w.finish(res)
	res.log = w.log
	w.log.close()
	w.mu.Lock()
	res.escaped = w.body.escaped
	w.mu.Unlock()
	if err := trace.Close(res.report().Verdict()); err != nil && res.err == nil {
		res.err = err
	}
	sofar := *res
	played.Store(&sofar)
	if err := w.end(before); err != nil && !res.failed() {
		res.err = err
	}
	return w
}

// shutdownTimeout limits the virtual time that goroutines may take to end after a run. Backoffs that ignore their context sleep
// on; client-go's longest is half a minute, a minute with jitter.
const shutdownTimeout = 10 * time.Minute

// end stops every goroutine in the bubble, and names those that do not stop.
func (w *world) end(before int) error {
	w.cancel(errOver)
	w.bubble.Quiesce()
	var left []bubble.Goroutine
	for waited := time.Duration(0); ; {
		if runtime.NumGoroutine() <= before {
			return nil
		}
		// There may be new goroutines outside the bubble, or some that are just exiting.
		if left = w.bubble.Goroutines(); len(left) == 0 {
			return nil
		}
		if waited >= shutdownTimeout {
			break
		}
		waited += max(w.bubble.Pass(shutdownTimeout/8), time.Millisecond)
	}
	err := &bubble.LeakError{Goroutines: left}
	if slices.ContainsFunc(left, func(g bubble.Goroutine) bool { return !blockedForGood(g.State) }) {
		w.ended.Store(true)
		w.bubble.Abandon(err)
	}
	return err
}

// blockedForGood reports whether a goroutine in this state never runs again unless another one wakes it. A bubble in which all are
// can be ended.
func blockedForGood(state string) bool {
	return state != "sleep" && state != "select" && state != "running" && state != "runnable"
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
