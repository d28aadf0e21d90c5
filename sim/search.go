package sim

import (
	"errors"
	"slices"
	"time"
)

// Search makes every run of a small world, depth first: each run repeats the choices of an earlier one up to a step, makes another
// choice there, and goes on. It needs no snapshots, and a run that fails is a run like any other.
//
// What has been seen is a state, not a run. The hash of a state is that of what happened in each component, in order, and of when time
// passed; the order of steps of different components does not count (see Effect). So orders that differ only in steps without
// influence on each other are one state, and a run that comes to one that was seen ends there.
type Search struct {
	o     SearchOptions
	stack []branch
	seen  map[uint64]struct{}
	began bool

	cut     bool // a run ended in a state that was seen
	limited bool // a run was not branched any more, because it was too deep
	stats   SearchStats
}

// SearchOptions bound a search. The zero values mean no faults, time that never passes early, and no limit.
type SearchOptions struct {
	// Faults is how many faults a run has at most.
	Faults int
	// Early is how often time passes in a run, at most, although something else could happen; and Within is how far it may pass then.
	Early  int
	Within time.Duration
	// Delays is how many actors are delayed in a run, at most: from then on such an actor makes a step only while no other can. Below 0,
	// every action may happen at any time. Without delays, a run is that of fifo, but for faults and time.
	Delays int
	// Depth is the number of steps of a run after which it only goes on as fifo would.
	Depth int
	// States is how many states are looked at, at most.
	States int
	// Effect says what the step of a choice reads and changes; nil for TouchesAll.
	Effect func(k *Kernel, c Choice) Effect
	// Component is the name of the component that an actor belongs to, by the actor's name; nil for one of its own each.
	Component func(actor string) string
	// Shared tells which components ReadsShared reads; nil for all.
	Shared func(component string) bool
}

// Effect is what the step of a choice reads and changes. Whatever component a step emits a record in, it changes, too.
type Effect uint8

const (
	// TouchesAll: its order relative to every other step counts.
	TouchesAll Effect = iota
	// ReadsShared: it changes its actor's component, and reads the shared ones.
	ReadsShared
	// TouchesOwn: it reads and changes its actor's component only. What it enables elsewhere was bound to be enabled.
	TouchesOwn
	// Timeless is TouchesOwn for a step that does the same at any time, unless it sets a timer.
	Timeless
)

// SearchStats say what a search has seen.
type SearchStats struct {
	States int // different ones
	Runs   int // to the end
	Cut    int // runs that ended in a state that was seen before
	Steps  uint64
	Depth  int // of the longest run
}

// ErrSeen ends a run that has come to a state that was seen before.
var ErrSeen = errors.New("this state was seen before")

// ErrTooManyStates ends a search at its limit.
var ErrTooManyStates = errors.New("the search has seen as many states as it may")

// branch is a step of the current run, and the choices that are left to try there.
type branch struct {
	picked        option
	left          []option
	quiet         bool // nothing but time and faults could happen
	faults, early int  // before this step
}

// option is a choice, and the actors that are delayed from then on.
type option struct {
	choice  Choice
	delayed []ActorID
}

// NewSearch returns a search that has not begun.
func NewSearch(o SearchOptions) *Search { return &Search{o: o, seen: map[uint64]struct{}{}} }

// Next returns the strategy of the next run, nil if every run has been made. The run before has ended.
func (s *Search) Next() *Exhaustive {
	if s.began && !s.backtrack() {
		return nil
	}
	s.began, s.cut = true, false
	return &Exhaustive{search: s, branching: true}
}

// Ended says that the run of the last strategy has ended.
func (s *Search) Ended(steps uint64) {
	s.stats.Steps += steps
	s.stats.Depth = max(s.stats.Depth, int(steps))
	if s.cut {
		s.stats.Cut++
	} else {
		s.stats.Runs++
	}
}

// Again returns the strategy that makes the last run again.
func (s *Search) Again() *Exhaustive { return &Exhaustive{search: s} }

// Stats returns what the search has seen so far.
func (s *Search) Stats() SearchStats { return s.stats }

// Whole reports whether no run was too deep to be branched.
func (s *Search) Whole() bool { return !s.limited }

// backtrack goes back to the last step at which another choice is left, and makes that.
func (s *Search) backtrack() bool {
	for n := len(s.stack) - 1; n >= 0; n-- {
		if b := &s.stack[n]; len(b.left) > 0 {
			b.picked, b.left = b.left[0], b.left[1:]
			s.stack = s.stack[:n+1]
			return true
		}
	}
	s.stack = s.stack[:0]
	return false
}

// Exhaustive is the strategy of one run of a Search. It must be bound to the run's kernel.
type Exhaustive struct {
	search    *Search
	depth     int
	branching bool
	stopped   bool
	fifo      FIFO
	state     stateHash
}

// Name returns "exhaustive".
func (*Exhaustive) Name() string { return "exhaustive" }

// Bind sets the kernel that the strategy drives, whose steps it observes.
func (e *Exhaustive) Bind(k *Kernel) {
	if e.state.k, e.state.o = k, &e.search.o; e.branching {
		k.Observe(&e.state)
	}
}

// StopFaults ends the faults, and lets time pass only when nothing else can happen.
func (e *Exhaustive) StopFaults() { e.stopped = true }

// Pick implements Strategy.
func (e *Exhaustive) Pick(r *Ready, step uint64) (Choice, error) {
	c, err := e.pick(r, step)
	if err == nil && e.branching {
		e.state.begin(c)
	}
	return c, err
}

func (e *Exhaustive) pick(r *Ready, step uint64) (Choice, error) {
	s, n := e.search, e.depth
	e.depth++
	digest := e.state.digest()
	switch {
	case n < len(s.stack):
		return s.stack[n].picked.choice, nil
	case !e.branching:
		return e.fifo.Pick(r, step)
	case s.o.Depth > 0 && n >= s.o.Depth:
		s.limited = true
		return e.fifo.Pick(r, step)
	}
	b := branch{quiet: len(r.Actions) == 0}
	var delayed []ActorID
	if n > 0 {
		last := &s.stack[n-1]
		b.faults, b.early, delayed = last.faults, last.early, last.picked.delayed
		switch class := last.picked.choice.Kind.Class(); {
		case class == ClassFault:
			b.faults++
		case class == ClassTime && !last.quiet:
			b.early++
		}
	}
	for _, id := range delayed {
		digest ^= fold(uint64(id)^saltA, saltB)
	}
	if _, ok := s.seen[digest]; ok {
		s.cut = true
		return Choice{}, ErrSeen
	}
	all := e.options(r, &b, delayed)
	if len(all) == 0 {
		return Choice{}, ErrNothingToDo
	}
	if s.o.States > 0 && len(s.seen) >= s.o.States {
		return Choice{}, ErrTooManyStates
	}
	s.seen[digest] = struct{}{}
	s.stats.States++
	b.picked, b.left = all[0], all[1:]
	s.stack = append(s.stack, b)
	return b.picked.choice, nil
}

// options are what may happen in a state: first what fifo would do, then other actions, time, and faults. Of choices that differ only
// in their age, the oldest counts.
func (e *Exhaustive) options(r *Ready, b *branch, delayed []ActorID) []option {
	o := &e.search.o
	var all []option
	add := func(c Choice, delayed []ActorID) {
		for _, other := range all {
			if other.choice.Actor == c.Actor && other.choice.Kind == c.Kind && other.choice.Target == c.Target && len(other.delayed) == len(delayed) {
				return
			}
		}
		all = append(all, option{c, delayed})
	}
	byAge := slices.Clone(r.Actions)
	slices.SortFunc(byAge, compareAges)
	idle := true
	for more := delayed; ; {
		first := -1
		if o.Delays >= 0 {
			first = slices.IndexFunc(byAge, func(f Offer) bool { return !slices.Contains(more, f.Actor) })
		}
		if first < 0 { // those that are delayed make their steps in any order
			for _, f := range byAge {
				add(f.Choice, more)
			}
			break
		}
		idle = false
		if add(byAge[first].Choice, more); len(more) >= o.Delays {
			break
		}
		more = append(slices.Clone(more), byAge[first].Actor)
	}
	if r.Time && (b.quiet || idle && !e.stopped && b.early < o.Early && e.near()) {
		add(r.Advance, delayed)
	}
	if !e.stopped && b.faults < o.Faults {
		for _, f := range r.Faults {
			add(f.Choice, delayed)
		}
	}
	return all
}

// near tells whether the next timer is within the bound of time that passes early.
func (e *Exhaustive) near() bool {
	d, ok := e.state.k.clock.NextTimer()
	return ok && d <= e.search.o.Within
}
