package world

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/world/wire"
)

// runner makes the runs of one job.
type runner struct {
	peer    *peer
	task    *wire.Task
	mappers mapperCache
	host    *Host
	box     *blackBox
	beside  *managers
	program *wire.Program // the test's, nil if it cannot be started once more

	o         *options
	mapper    *resourceMapper
	result    wire.Result
	trace     []byte              // of the run that the result is about
	replaying bool                // the task's trace is
	told      *reports.Conclusion // what that says of its run's end
	search    *shrinker           // of the failure that is being shrunk, nil for none
	shrinking string              // the report of the failure that is being shrunk, "" for none
	placed    string              // the file in Task.Traces that is this job's, "" for none yet
	spare     string              // the temporary file that is this job's, "" for none
}

// run does the job.
func (r *runner) run() {
	err := r.prepare()
	if err == nil {
		switch seed := r.task.Seed; r.task.Mode {
		case wire.Check:
		case wire.Seed:
			err = r.seed(seed)
		case wire.Find:
			err = r.find(seed)
		case wire.Replay, wire.Retry:
			err = r.replayFile()
		default:
			err = fmt.Errorf("there is no mode %q", r.task.Mode)
		}
	}
	if err != nil {
		r.result.Failure, r.result.Invalid = reports.Plain("simtest: "+err.Error()), true
	}
}

func (r *runner) prepare() (err error) {
	if r.o, err = newOptions(r.task.Options); err != nil {
		return err
	}
	if r.o.seeded = r.task.Seeded; r.o.Interleave > 0 && !r.o.seeded {
		return errors.New("Options.Interleave is On, and this test is built without the overlay of Go's runtime, which is what interleaves goroutines. " +
			"Build it with the overlay, or leave Interleave to the seed: " + overlayHint)
	}
	if r.mapper, err = r.mappers.get(r.o.CRDs); err != nil {
		return err
	}
	r.o.Webhooks = r.o.Webhooks || r.mapper.converts()
	if len(r.o.kubernetes) > 0 {
		_, err = r.beside.get()
	}
	return err
}

// logf adds to the test's log. What it logs may hold text of a trace.
func (r *runner) logf(format string, args ...any) {
	r.result.Logs = append(r.result.Logs, reports.Plain("simtest: "+fmt.Sprintf(format, args...)))
}

// failf fails the test with something other than a report.
func (r *runner) failf(format string, args ...any) {
	r.result.Failure = reports.Plain("simtest: " + fmt.Sprintf(format, args...))
}

// note makes a run the one that the result is about.
func (r *runner) note(res *outcome) {
	t := &r.result
	t.Seed, t.Steps, t.Faults, t.Virtual = res.header.Seed, res.steps, res.faults, res.run.Virtual
	t.Hash, t.Trips, t.Queries = fmt.Sprintf("%016x", res.run.Hash), res.trips, res.queries
	t.Property, t.Message = "", ""
	if res.failed() {
		t.Message = res.why()
		r.trace = res.trace.Bytes()
	}
	if v := res.violation; v != nil {
		t.Property, t.Message = v.Property, v.Message
	}
}

// seed runs one seed. A failure is shrunk, stored and reported.
func (r *runner) seed(seed uint64) error {
	h, err := newHeader(r.o, r.task, seed)
	if err != nil {
		return err
	}
	res := r.playSurely(h)
	if r.peer.gone != nil {
		return nil
	}
	if r.task.Verify && !res.failed() {
		if err := r.verify(res); err != nil || r.result.Failure != "" {
			return err
		}
	}
	if res.failed() {
		res = r.shrink(res)
		r.askDetector(res)
		r.report(res, r.store(res))
		return nil
	}
	r.result.Passed = res.passed()
	if r.task.Keep {
		r.keepPassed(res)
	}
	return nil
}

// keepPassed stores the trace of a run that has broken nothing, for whoever wants to see what happened in it.
func (r *runner) keepPassed(res *outcome) {
	name := r.store(res)
	if name == "" {
		return
	}
	text := fmt.Sprintf("the trace of seed %d, which breaks nothing, is in %s", res.header.Seed, name)
	if res.page != "" {
		text += "\n  step by step in a browser: " + res.page
	}
	r.logf("%s", text)
	r.result.File = "" // of a failure
}

// find runs one seed. A failure is returned, and stored where the task says.
func (r *runner) find(seed uint64) error {
	h, err := newHeader(r.o, r.task, seed)
	if err != nil {
		return err
	}
	res := r.playSurely(h)
	if res.failed() && r.peer.gone == nil {
		res = r.shrink(res)
		r.report(res, r.store(res))
	}
	return nil
}

// verify runs a seed that has passed again, and compares.
func (r *runner) verify(first *outcome) error {
	tr, err := sim.NewTraceReader("the first run", bytes.NewReader(first.trace.Bytes()))
	if err != nil {
		return err
	}
	second := r.play(source{header: first.header, replay: sim.NewReplay(tr)})
	why := r.whyNotRepeated(first.header.Seed, first.streamed || second.streamed)
	switch {
	case second.failed(): // which is a finding, although the first run is none
		r.report(second, r.store(second))
		r.failf("seed %d does not repeat: it passed the first time, and failed the second. %s\n%s", first.header.Seed, why, r.result.Failure)
	case second.replay != nil:
		r.failf("seed %d does not repeat: %v\n%s", first.header.Seed, second.replay, why)
	}
	return nil
}

// whyNotRepeated explains the usual reasons why two runs of a seed differ, and says what to run. streamed reports that there was a streaming list.
func (r *runner) whyNotRepeated(seed uint64, streamed bool) string {
	twice := fmt.Sprintf("%s -simtest.verify -simtest.seed=%d", r.task.Command, seed)
	if r.task.Seeded {
		return "Something in the bubble is not deterministic. The seed does not decide the order of a map with more than eight keys that are " +
			"or contain pointers, real time, real I/O, and what outlives a run in package variables.\n" +
			"  run it twice:  " + twice
	}
	why := "Something in the bubble is not deterministic: usually a range over a map (client-go has some: a streaming list, Store.List, the replay to " +
		"late handlers), a select among several ready channels, or timers due at the same instant. Go leaves their order to chance."
	if streamed {
		why += " This run has streaming lists, whose objects client-go takes in such an order."
	}
	return why + " To let the seed decide, the test must be built with an overlay of Go's runtime:\n" +
		"  run it twice:  " + overlayHint + strings.TrimPrefix(twice, "go test")
}

// whyNoReplay explains the usual reasons why a run diverges from its trace.
func (r *runner) whyNoReplay(h sim.Header) string {
	switch seeded := h.Options[optionRuntime] == runtimeSeeded; {
	case seeded && !r.task.Seeded:
		return "The trace comes from a test built with the overlay of Go's runtime, and this one is not: " + overlayHint
	case !seeded && r.task.Seeded:
		return "The trace comes from a test built without the overlay of Go's runtime, and this one has it: run it with go test, not informersim go test."
	}
	if was, is := h.Versions[reports.VersionClient], r.task.ClientGo; was != is && was != "" && is != "" {
		return fmt.Sprintf("The trace was made with client-go %s, and this test has %s. That can be the difference, or the test, the controller or another library has changed since.", reports.PlainLine(was), is)
	}
	return "The test, the controller or a library has changed since, or the run is not deterministic: check with -simtest.verify."
}

// versions are those in the header of a trace: the engine's, and what the test is made of.
func (r *runner) versions() map[string]string {
	v := maps.Clone(r.host.Versions)
	v[reports.VersionClient], v[reports.VersionGo] = r.task.ClientGo, r.task.Go
	maps.DeleteFunc(v, func(_, version string) bool { return version == "" })
	return v
}

// overlayHint is the command that builds a test with the overlay.
const overlayHint = `informersim go test`

// unreadableError is that of a file which is no trace that this program reads.
type unreadableError struct{ error }

func (e *unreadableError) Unwrap() error { return e.error }

// seedIn returns the seed in the name of a stored trace.
func seedIn(file string) (uint64, bool) {
	name, is := strings.CutSuffix(file, traceSuffix)
	seed, err := strconv.ParseUint(name[strings.LastIndex(name, "-")+1:], 10, 64)
	return seed, is && err == nil && seed > 0
}

// replayFile replays a trace. As a retry, one that no longer fits the program is not a failure: its seed is run again instead.
func (r *runner) replayFile() error {
	file, retry := r.task.File, r.task.Mode == wire.Retry
	if retry {
		r.simplify(file)
	}
	res, err := r.replay()
	switch {
	case errors.As(err, new(*unreadableError)) && retry:
		if seed, ok := seedIn(file); ok {
			r.logf("%s cannot be replayed, and the seed in its name is run: %v", file, err)
			return r.seed(seed)
		}
		r.logf("%s cannot be replayed and is skipped: %v", file, err)
		return nil
	case err != nil && retry:
		r.logf("%s cannot be replayed and is skipped: %v", file, err)
		return nil
	case err != nil:
		return err
	case res == nil:
		return nil
	}
	r.note(res)
	coincides := r.replayCoincides(res)
	if coincides != "" {
		r.logf("%s breaks %s again, %s: that may be a coincidence, for which a seed does not fail", file, res.violation.Property, coincides)
	}
	switch {
	case r.peer.gone != nil:
	case retry && coincides != "":
		r.logf("%s does not count: running its seed again", file)
		return r.seed(res.header.Seed)
	case retry && res.replay != nil:
		r.logf("%s no longer fits the program (%v): running its seed again. %s", file, onOneLine(res.replay.Error()), r.whyNoReplay(res.header))
		return r.seed(res.header.Seed)
	case res.failed():
		if res.replay == nil && r.told.Twin != nil {
			res.tellOf(r.told.Twin)
		}
		r.askDetector(res)
		if page := pageFile(file); r.storePage(r.path(page), res.trace.Bytes()) {
			res.page = page
		}
		r.result.Same = res.replay == nil && (!res.cutOff || r.hangsAgain(res))
		r.report(res, file)
	case res.replay != nil:
		return r.differs(file, res)
	case retry || res.cutOff:
		r.logf("%s passes now", file)
	case r.told.Violation == nil && r.told.Failure == "":
		r.logf("%s is the same run, step by step, and breaks nothing", file)
	default:
		r.logf("%s passes now: it is the same run, step by step, and nothing breaks", file)
	}
	return nil
}

// Without the overlay, a trace is replayed until it fits, within these limits on attempts and real time. Maps have another order
// each time, also inside client-go: a streaming list and the replay of a store to a late handler come in such an order, and
// what a worker then does first is a matter of luck.
const (
	replayTries  = 500
	replayBudget = 20 * time.Second
)

// replay replays the task's trace; it returns nil if the trace is another test's.
func (r *runner) replay() (*outcome, error) {
	data, err := os.ReadFile(r.path(r.task.File))
	if err != nil {
		return nil, &unreadableError{err}
	}
	r.replaying, r.told = true, conclusionIn(data)
	defer func() { r.replaying = false }()
	var res *outcome
	started := r.host.Now()
	for try := 0; try == 0 || try < replayTries && r.host.Now().Sub(started) < replayBudget && r.peer.gone == nil; try++ {
		tr, err := sim.NewTraceReader(r.task.File, bytes.NewReader(data))
		if err != nil {
			return nil, &unreadableError{err}
		}
		h := tr.Header()
		if h.Subject != subject || h.Scenario != r.task.Test {
			if r.task.Mode == wire.Replay {
				r.result.Other = h.Scenario
				r.logf("%s is a trace of %s, not of this test", r.task.File, h.Scenario)
				return nil, nil
			}
			return nil, fmt.Errorf("it is a trace of %s", h.Scenario)
		}
		if n, err := strconv.Atoi(h.Options[optionRun]); err == nil && r.task.Run > 0 && n != r.task.Run {
			r.result.OtherRun = n
			return nil, nil
		}
		cut := endless(data)
		if cut && !r.told.Repeats {
			r.logf("%s is the trace of a run during which its process died or hung, or its end is missing: running its seed again", r.task.File)
			res := r.play(source{header: h})
			res.cutOff = true
			return res, nil
		}
		again := r.play(source{header: h, replay: sim.NewReplay(tr), cut: cut, next: r.told.Next})
		again.cutOff = cut
		if res == nil || again.replay == nil || again.steps > res.steps {
			res = again
		}
		var diverged *sim.DivergedError
		otherBuild := (h.Options[optionRuntime] == runtimeSeeded) != r.task.Seeded
		// What a process does only once can make its first interleaved run another one, so a trace of one is tried twice.
		repeats := r.task.Seeded && (try > 0 || !interleaves(&h))
		if !errors.As(again.replay, &diverged) || repeats || otherBuild && r.task.Mode == wire.Retry {
			break
		}
	}
	return res, nil
}

// play makes one run.
func (r *runner) play(s source) *outcome {
	res := newOutcome(s.header)
	if r.peer.gone != nil {
		res.err = r.peer.gone
		return res
	}
	var kubernetes *peer
	if len(r.o.kubernetes) > 0 {
		if kubernetes, res.err = r.beside.get(); res.err != nil {
			return res
		}
	}
	r.peer.send(wire.New(wire.Begin).Num(int64(s.header.Seed)).Text(r.shrinking).Flag(interleaves(&s.header)).Flag(detectsMutations(&s.header)))
	w, err := newWorld(r.o, r.mapper, r.peer, kubernetes, s)
	if err == nil {
		if w.flight, err = newFlight(w, &res.trace, r, s.header); err != nil {
			w.manager.end()
		}
	}
	if err != nil {
		// Options and headers are checked before: this is a trace whose header says what cannot be.
		res.err = err
		r.endBubble(nil, res)
		return res
	}
	w.play()
	w.finish(res)
	w.manager.end()
	r.endBubble(w.remote.early, res)
	if errors.Is(r.peer.gone, errGone) && res.violation == nil {
		w.flight.cutOff(false) // as its processes were told to end
	}
	if w.flight.cut {
		res = w.flight.outcome(res)
	} else if err := res.close(w.flight.trace); err != nil && res.err == nil { // now that it is known what the run has left behind
		res.err = err
	}
	switch {
	case r.box.another != nil:
	case r.peer.gone != nil:
		r.died(s, w.flight, res)
	}
	if s.cut && w.flight.cut {
		res.played = s.replay.Done()
	}
	if s.replay != nil && !w.flight.cut {
		res.replay = s.replay.Finish()
		var diverged *sim.DivergedError
		if errors.As(res.err, &diverged) {
			res.err, res.replay = nil, diverged
		}
	}
	return res
}

// endBubble has the test's process end its bubble, unless it has said that it has ended, and takes in how that went.
func (r *runner) endBubble(m *wire.Message, res *outcome) {
	early := m != nil
	if !early {
		r.peer.send(wire.New(wire.End).Flag(res.failed()))
	}
	for m == nil {
		m = r.peer.receive()
		switch {
		case m == nil:
			return // gone; the run's error says so, unless it was over
		case m.Kind == wire.Query:
			r.peer.send(wire.New(wire.Answer).Error(errOver))
			m = nil
		case m.Kind != wire.Ended:
			r.peer.broken(fmt.Errorf("a message of kind %q instead of the bubble's end", m.Kind))
			return
		}
	}
	res.testFailed, res.stuck = m.Flag(), m.Flag()
	text := m.Text()
	res.log = readLog(m.Field())
	switch {
	case m.Err() != nil:
		r.peer.broken(m.Err())
	case text == "":
	case early:
		res.err = errors.New(text)
	case res.stuck:
		res.unended = errors.New(text)
		if !res.failed() {
			res.err = fmt.Errorf("the run has ended, and its context is canceled, but a goroutine goes on: %w", res.unended)
		}
	case !res.failed():
		res.err = errors.New(text)
	}
}

var errOver = errors.New("simtest: this env's run is over; its clients end with it")

// onOneLine puts what a program says on several lines on one.
func onOneLine(s string) string { return strings.Join(strings.Fields(s), " ") }
