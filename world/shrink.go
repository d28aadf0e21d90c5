package world

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/sim/shrink"
)

// optionShrunk, in the header's options of a shrunk trace, gives its original size.
const optionShrunk = "shrunkFrom"

// shrinker looks for a simpler run that fails in the same way.
type shrinker struct {
	r        *runner
	header   sim.Header
	play     func(source) *outcome
	same     func(*outcome) bool // whether a run fails as the one that is to be simpler
	spoils   func(*outcome) bool // whether no run can follow this one
	deadline time.Time
	left     time.Duration // until the deadline, when the last run began
	maxSteps uint64
	best     *outcome   // the simplest run so far
	picks    []sim.Pick // with which it is made
	timed    bool       // and whether these have their times
	byTime   bool       // the run that is tried is made by time
	failed   bool       // a run has spoilt the search
}

// shrink simplifies a failure within its time limit: with goroutines that are not interleaved, without faults, with fewer, with an end that is as orderly as possible, with
// a shorter schedule. The outcome that it returns is that of an actual run, with its trace,
// which tells of the nearest run that passes.
func (r *runner) shrink(res *outcome) *outcome {
	limit := r.task.Shrink
	if res.stuck && r.mayBeSimpler(res) {
		r.store(res) // the test may end meanwhile
		if simpler := r.simplerElsewhere(res); simpler != nil {
			return simpler
		}
		return res
	}
	if limit <= 0 || res.violation == nil || res.escaped != nil || res.testFailed || res.stuck || r.peer.gone != nil || r.o.Strategy == fifo {
		return res
	}
	picks, err := res.picks()
	if err != nil {
		r.logf("the failure was not shrunk: %v", err)
		return res
	}
	s := &shrinker{
		r: r, play: r.play, deadline: r.host.Now().Add(limit), maxSteps: 2*res.steps + 1000, best: res, picks: picks,
		same: func(other *outcome) bool {
			return other.violation != nil && sameVerdict(other.violation, res.violation) && other.escaped == nil
		},
		spoils: func(other *outcome) bool { return other.testFailed || other.stuck || r.peer.gone != nil },
	}
	s.header = res.header
	s.header.Options = maps.Clone(res.header.Options)
	s.header.Options[optionShrunk] = res.size()
	// A run that is tried may end the test's process; the failure that is being shrunk must not be lost with it.
	r.shrinking, r.search = r.text(res, r.store(res)), s
	defer func() { r.shrinking, r.search = "", nil }()
	s.search(res, picks)
	if s.failed && r.peer.gone == nil && r.canStartAgain() && !r.host.Stopped() {
		o := &others{r: r, limit: hangOfFew}
		defer o.close()
		s.elsewhere(o, s.left)
	}
	return s.best
}

// elsewhere goes on, for a time, in other processes of the test's program, since a run that was tried has ended or hung the first.
func (s *shrinker) elsewhere(o *others, limit time.Duration) {
	s.deadline = s.r.host.Now().Add(limit)
	o.deadline = s.deadline.Add(twinTime + time.Second)
	s.play, s.spoils, s.failed = o.play, o.spoils, false
	s.search(s.best, s.picks)
}

// search reduces the picks of a run, and looks for the nearest run that passes.
func (s *shrinker) search(res *outcome, picks []sim.Pick) {
	timed, header := s.timed, s.header
	s.reduce(picks)
	if !s.isSimpler(res) {
		s.best, s.picks, s.timed, s.header = res, picks, timed, header
	}
	if !s.failed {
		s.twin(s.best, s.picks)
	}
}

// size is what a shrunk trace says of the run that it comes from.
func (o *outcome) size() string { return fmt.Sprintf("%d steps, %d faults", o.steps, o.faults) }

// isSimpler reports whether the best run is simpler than that one: another run of its size is not.
func (s *shrinker) isSimpler(than *outcome) bool {
	return s.best.faults != than.faults || s.best.steps != than.steps || interleaves(&s.best.header) != interleaves(&than.header)
}

// reduce looks for few picks with which the run still breaks; the rest of the run follows fifo. In their times most faults can be left out without a change to what
// the others meet; in their order, a fault may meet something earlier than it did, and need less.
func (s *shrinker) reduce(picks []sim.Pick) {
	s.byTime = s.timed
	s.takeTurns(picks)
	if s.over() || s.breaks(nil) {
		return // it breaks without any of the picks
	}
	for _, s.byTime = range []bool{true, false} {
		s.fewer(picks)
	}
}

// fewer looks for fewer of these picks. Faults are removed first, then the end.
func (s *shrinker) fewer(picks []sim.Pick) {
	reducer := shrink.Reducer[sim.Pick]{Fails: s.breaks, Stop: s.over}
	isFault := func(p sim.Pick) bool { return p.Fault() }
	if calm := slices.DeleteFunc(slices.Clone(picks), isFault); !s.over() && s.breaks(calm) {
		picks = calm
	}
	picks = s.fewerKinds(reducer.Halve(picks, isFault))
	picks = reducer.TruncateCoarsely(picks, len(picks)/16)
	for before := -1; len(picks) != before && !s.over(); { // with fewer of the others, a fault may be needed no more
		before = len(picks)
		picks = reducer.ReduceOnly(picks, isFault)
		picks = reducer.ReduceOnly(picks, func(p sim.Pick) bool { return !p.Fault() })
		picks = reducer.Truncate(picks)
	}
}

// fewerKinds leaves out all faults of a kind at once, the most frequent first: most have nothing to do with the failure, and that takes few runs.
func (s *shrinker) fewerKinds(picks []sim.Pick) []sim.Pick {
	count := map[sim.Kind]int{}
	for i := range picks {
		if picks[i].Fault() {
			count[picks[i].Kind]++
		}
	}
	kinds := slices.SortedFunc(maps.Keys(count), func(a, b sim.Kind) int {
		return cmp.Or(cmp.Compare(count[b], count[a]), strings.Compare(a.String(), b.String()))
	})
	for _, k := range kinds {
		if s.over() {
			break
		}
		without := slices.DeleteFunc(slices.Clone(picks), func(p sim.Pick) bool { return p.Kind == k })
		if s.breaks(without) {
			picks = without
		}
	}
	return picks
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

// breaks reports whether a run with these picks fails in the same way, and keeps it if it is simpler than the best.
func (s *shrinker) breaks(picks []sim.Pick) bool {
	s.left = s.deadline.Sub(s.r.host.Now())
	from := s.source(picks, s.byTime)
	res := s.surely(s.try(from), from)
	if res == nil {
		return false
	}
	if res.faults < s.best.faults || res.faults == s.best.faults && res.steps <= s.best.steps {
		s.best, s.picks, s.timed = res, slices.Clone(picks), s.byTime
	}
	return true
}

// try makes a run, and notes whether none can follow it.
func (s *shrinker) try(from source) *outcome {
	res := s.play(from)
	s.failed = s.failed || s.spoils(res)
	return res
}

// source is that of a run with these picks.
func (s *shrinker) source(picks []sim.Pick, timed bool) source {
	return source{header: s.header, picks: &picks, timed: timed, maxSteps: s.maxSteps}
}
