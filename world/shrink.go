package world

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"time"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/sim/shrink"
)

// optionShrunk, in the header's options of a shrunk trace, gives its original size.
const optionShrunk = "shrunkFrom"

// shrinker looks for a simpler run that breaks the same property.
type shrinker struct {
	r        *runner
	header   sim.Header
	property string
	deadline time.Time
	maxSteps uint64
	best     *outcome   // the simplest run so far
	picks    []sim.Pick // with which it is made
	failed   bool       // a run has failed the test, or the test is gone
}

// shrink simplifies a failure within its time limit: with goroutines that are not interleaved, without faults, with fewer, with an end that is as orderly as possible, with
// a shorter schedule. The outcome that it returns is that of an actual run, with its trace,
// which tells of the nearest run that passes.
func (r *runner) shrink(res *outcome) *outcome {
	limit := r.task.Shrink
	if limit <= 0 || res.violation == nil || res.escaped != nil || res.testFailed || res.stuck || r.peer.gone != nil || r.o.Strategy == fifo {
		return res
	}
	tr, err := sim.NewTraceReader("the run", bytes.NewReader(res.trace.Bytes()))
	var picks []sim.Pick
	if err == nil {
		picks, err = sim.ReadPicks(tr)
	}
	if err != nil {
		r.logf("the failure was not shrunk: %v", err)
		return res
	}
	s := &shrinker{r: r, property: res.violation.Property, deadline: r.host.Now().Add(limit), maxSteps: 2*res.steps + 1000, best: res, picks: picks}
	s.header = res.header
	s.header.Options = maps.Clone(res.header.Options)
	s.header.Options[optionShrunk] = fmt.Sprintf("%d steps, %d faults", res.steps, res.faults)
	// A run that is tried may end the test's process; the failure that is being shrunk must not be lost with it.
	r.shrinking = r.text(res, r.store(res))
	defer func() { r.shrinking = "" }()
	s.reduce(picks)
	if s.best.faults == res.faults && s.best.steps == res.steps && interleaves(&s.best.header) == interleaves(&res.header) {
		s.best, s.picks = res, picks // another run of that size is not simpler
	}
	if !s.failed {
		s.twin(s.best, s.picks)
	}
	return s.best
}

// reduce looks for few picks with which the run still breaks; the rest of the run follows fifo. Faults are removed first, then the
// end.
func (s *shrinker) reduce(picks []sim.Pick) {
	s.takeTurns(picks)
	reducer := shrink.Reducer[sim.Pick]{Fails: s.breaks, Stop: s.over}
	if s.over() || s.breaks(nil) {
		return // it breaks without any of the picks
	}
	isFault := func(p sim.Pick) bool { return p.Fault() }
	if calm := slices.DeleteFunc(slices.Clone(picks), isFault); !s.over() && s.breaks(calm) {
		picks = calm
	}
	picks = reducer.Truncate(picks)
	picks = reducer.ReduceOnly(picks, isFault)
	picks = reducer.ReduceOnly(picks, func(p sim.Pick) bool { return !p.Fault() })
	reducer.Truncate(picks)
}

// takeTurns has goroutines run in the order in which they were woken, if the run breaks with that, too: then it is not about their interleaving.
func (s *shrinker) takeTurns(picks []sim.Pick) {
	if s.over() || !interleaves(&s.header) {
		return
	}
	interleaved := s.header.Options
	s.header.Options = maps.Clone(interleaved)
	delete(s.header.Options, optionInterleave)
	if !s.breaks(picks) {
		s.header.Options = interleaved
	}
}

func (s *shrinker) over() bool { return !s.r.host.Now().Before(s.deadline) || s.failed }

// breaks reports whether a run with these picks breaks the same property, and keeps it if it is simpler than the best.
func (s *shrinker) breaks(picks []sim.Pick) bool {
	res := s.r.play(source{header: s.header, picks: &picks, maxSteps: s.maxSteps})
	s.failed = s.failed || res.testFailed || res.stuck || s.r.peer.gone != nil
	if res.violation == nil || res.violation.Property != s.property || res.escaped != nil {
		return false
	}
	if res.faults < s.best.faults || res.faults == s.best.faults && res.steps <= s.best.steps {
		s.best, s.picks = res, slices.Clone(picks)
	}
	return true
}
