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
	"time"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/sim"
)

// Run calls body once for each seed, in a world of its own, and fails t at the first seed with which something is broken.
// Traces of earlier failures, under testdata/simtest, are replayed first. It returns when all goroutines that were started
// in a world have ended.
func Run(t TB, o Options, body func(env *Env)) {
	r := newRunner(t, o, body)
	t.Helper()
	switch {
	case flags.replay != "":
		r.replayOne(flags.replay)
	case flags.seed != 0:
		r.seed(flags.seed)
	default:
		r.stored()
		n := r.o.Seeds
		if flags.seeds > 0 {
			n = flags.seeds
		}
		for seed := uint64(1); seed <= uint64(n); seed++ {
			r.seed(seed)
		}
		r.requireSometimes(n)
	}
}

// newRunner checks what Run was given.
func newRunner(t TB, o Options, body func(env *Env)) *runner {
	if isNil(t) {
		panic("simtest: Run needs the t of a test; it was given nil")
	}
	t.Helper()
	if body == nil {
		fatal(t, "simtest: Run needs a body, it was given nil")
	}
	if inBubble() {
		fatal(t, "simtest: Run is called inside of a synctest bubble, that of another Run or of synctest.Test: it makes its own; call it outside")
	}
	if err := o.complete(); err != nil {
		fatal(t, "simtest: %v", err)
	}
	mapper, err := newResourceMapper(&o)
	if err != nil {
		fatal(t, "simtest: %v", err)
	}
	pkg := packageOf(body)
	return &runner{t: t, o: &o, mapper: mapper, body: body, pkg: pkg, line: commandLine(t, pkg), sometimes: map[string]bool{}}
}

// inBubble tells whether the caller's goroutine is in a bubble.
func inBubble() bool {
	buf := make([]byte, 256)
	state, _, _ := strings.Cut(string(buf[:runtime.Stack(buf, false)]), "\n")
	return strings.Contains(state, "synctest bubble")
}

// fatal fails the test and ends its goroutine.
func fatal(t TB, format string, args ...any) {
	t.Helper()
	t.Errorf(format, args...)
	t.FailNow()
}

// runner runs the seeds of one call of Run.
type runner struct {
	t         TB
	o         *Options
	mapper    *resourceMapper
	body      func(*Env)
	pkg       string // the import path of the test
	line      string // the command that runs just this test
	sometimes map[string]bool
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
	for name, held := range res.sometimes {
		r.sometimes[name] = r.sometimes[name] || held
	}
	if res.failed() {
		res = r.shrink(res)
		r.report(res, r.keep(res))
	}
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
		fatal(r.t, "simtest: seed %d does not repeat: %v\n%s\n  run its seed twice:  %s -simtest.verify -simtest.seed=%d", h.Seed, second.replay, whyNotRepeated(), r.line, h.Seed)
	case second.failed():
		fatal(r.t, "simtest: seed %d does not repeat: it passed, and the second time: %s", h.Seed, second.why())
	}
}

// whyNotRepeated is what usually makes a run differ from another one of its seed.
func whyNotRepeated() string {
	if bubble.Seeded() {
		return "Something in the bubble does not follow from what it is told. What the seed does not decide: the order of a map with more than eight " +
			"keys that are pointers or hold some, real time, real input and output, and what outlives a run in package variables."
	}
	return "Something in the bubble does not follow from what it is told: usually a range over a map (client-go has some: a streaming list, Store.List, the " +
		"replay for late handlers), a select among several ready channels, or timers of one instant. Go leaves their order to chance, unless the test " +
		"is built with an overlay of its runtime, with which the seed decides: " + overlayHint
}

// whyNoReplay is what usually makes a run differ from its trace.
func whyNoReplay(h sim.Header) string {
	switch seeded := h.Options[optionRuntime] == runtimeSeeded; {
	case seeded && !bubble.Seeded():
		return "The trace comes from a test that was built with the overlay of Go's runtime, and this one is not: " + overlayHint
	case !seeded && bubble.Seeded():
		return "The trace comes from a test that was built without the overlay of Go's runtime, and this one has it: build it without -overlay."
	}
	return "The test, the controller or a library has changed since, or the run does not repeat: -simtest.verify tells."
}

// overlayHint is how to build a test with the overlay.
const overlayHint = `go test -overlay="$(informersim overlay)"`

// stored replays what failed before. A trace that does not fit the program any more is no failure; its seed is run anew.
func (r *runner) stored() {
	r.t.Helper()
	if !r.keeps() {
		return
	}
	files, err := filepath.Glob(filepath.Join(traceFolder, traceName(r.t.Name())+"-*"+traceSuffix))
	if err != nil {
		return // the pattern is ours: there is no other reason than a strange name of a test
	}
	sort.Strings(files)
	for _, file := range files {
		res, err := r.replay(file)
		switch {
		case err != nil:
			r.t.Logf("simtest: %s cannot be replayed, and is left out: %v", file, err)
		case res.replay == nil && res.failed():
			r.report(res, file)
		case res.replay != nil:
			r.t.Logf("simtest: %s does not fit the program any more (%v): its seed is run anew. %s", file, firstLine(res.replay.Error()), whyNoReplay(res.header))
			r.seed(res.header.Seed)
		default:
			r.t.Logf("simtest: %s passes now", file)
		}
	}
}

// replayOne replays the trace that a flag names.
func (r *runner) replayOne(file string) {
	r.t.Helper()
	res, err := r.replay(file)
	switch {
	case err != nil:
		fatal(r.t, "simtest: %v", err)
	case res == nil:
	case res.replay != nil && !res.failed():
		fatal(r.t, "simtest: %s does not fit this program: %v\n%s", file, res.replay, whyNoReplay(res.header))
	case res.failed():
		r.report(res, file)
	}
}

// Where the seed does not decide what Go leaves open, a trace is played until it fits, this often and this long in real time at
// most. Maps have another order each time, also inside of client-go: a streaming list, and the replay of a store to a late
// handler, come in such an order, and what a worker then does first is a matter of luck.
const (
	replayTries  = 500
	replayBudget = 20 * time.Second
)

// replay plays a trace again; nil if it is another test's.
func (r *runner) replay(file string) (*outcome, error) {
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, err
	}
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
				r.t.Logf("simtest: %s is a trace of %s, not of this test", file, h.Scenario)
				return nil, nil
			}
			return nil, fmt.Errorf("it is a trace of %s", h.Scenario)
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
	// Goroutines of the user's that wake at the same time take turns, and in the same order every time: whoever adds to a queue
	// first, say, is then no matter of which processor was faster. The race detector shuffles them all the same.
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	err := bubble.Run(s.header.Seed, bubble.Options{QuiescenceTimeout: r.o.RealQuiescenceTimeout}, func() {
		w = r.inBubble(s, res)
	})
	if w != nil {
		w.ended.Store(true)
	}
	var stuck *bubble.StuckError
	switch {
	case err == nil:
	case errors.As(err, &stuck):
		// The goroutines of the run are still there, so nothing that they use is touched.
		res = newOutcome(s.header)
		res.err = err
		return res
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

// inBubble is the run, on the goroutine that owns the kernel.
func (r *runner) inBubble(s source, res *outcome) *world {
	before := runtime.NumGoroutine()
	w, err := newWorld(r.t, r.o, r.mapper, s)
	if err != nil {
		res.err = err
		return nil
	}
	trace, err := sim.NewTraceWriter(w.kernel, &res.trace, s.header)
	if err != nil {
		res.err = err
		return w
	}
	w.kernel.Observe(trace)
	env := &Env{w: w, rand: rand.New(rand.NewPCG(w.seed, 0x656e76))}
	w.play(func() { r.body(env) })
	w.finish(res)
	w.mu.Lock()
	res.escaped = w.body.escaped
	w.mu.Unlock()
	if err := trace.Close(res.told().Verdict()); err != nil && res.err == nil {
		res.err = err
	}
	if err := w.end(before); err != nil && !res.failed() {
		res.err = err
	}
	return w
}

// lastWait is how much virtual time the goroutines of a run have to end after it. Backoffs that do not look at their context
// sleep on; client-go's longest is half a minute, with its jitter a minute.
const lastWait = 10 * time.Minute

// end ends everything in the bubble and names what does not.
func (w *world) end(before int) error {
	w.over(errOver)
	w.bubble.Quiesce()
	var left []bubble.Goroutine
	for waited := time.Duration(0); ; {
		if runtime.NumGoroutine() <= before {
			return nil
		}
		// Others than the bubble's may have come, or some may still be on their last steps.
		if left = w.bubble.Goroutines(); len(left) == 0 {
			return nil
		}
		if waited >= lastWait {
			break
		}
		waited += max(w.bubble.Pass(lastWait/8), time.Millisecond)
	}
	err := &bubble.LeakError{Goroutines: left}
	if slices.ContainsFunc(left, func(g bubble.Goroutine) bool { return !blockedForGood(g.State) }) {
		w.ended.Store(true)
		w.bubble.Abandon(err)
	}
	return err
}

// blockedForGood tells whether a goroutine that nobody wakes will never run again: a bubble with only such can be ended.
func blockedForGood(state string) bool {
	return state != "sleep" && state != "select" && state != "running" && state != "runnable"
}

// requireSometimes fails the test for what never held in any seed.
func (r *runner) requireSometimes(seeds int) {
	r.t.Helper()
	var never []string
	for name, held := range r.sometimes {
		if !held {
			never = append(never, name)
		}
	}
	slices.Sort(never)
	for _, name := range never {
		r.t.Errorf("simtest: %q (env.Sometimes) never held in %d seeds: the test does not exercise it; give it more seeds or faults", name, seeds)
	}
}

func firstLine(s string) string {
	line, _, _ := strings.Cut(s, "\n")
	return line
}
