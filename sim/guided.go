package sim

import (
	"fmt"
	"io"
	"slices"
	"time"
)

// A Pick is a choice of an earlier run, to be repeated if a matching choice is offered.
type Pick struct {
	Actor  string
	Kind   Kind
	Target uint32
	Draws  []uint64      // the random numbers that the step drew
	At     time.Duration // the virtual time after the step, for NewTimed
}

// Fault reports whether the choice is a fault.
func (p *Pick) Fault() bool { return p.Kind.Class() == ClassFault }

// ReadPicks reads the choices of a trace, to its end; with an error it returns those before it.
func ReadPicks(r *TraceReader) ([]Pick, error) {
	var picks []Pick
	for {
		s, err := r.Next()
		if err == io.EOF {
			return picks, nil
		}
		if err != nil {
			return picks, err
		}
		kind, ok := KindByName(s.Kind)
		if !ok {
			return picks, fmt.Errorf("step %d picks %q, a kind of choice unknown to this informersim", s.Step, s.Kind)
		}
		picks = append(picks, Pick{Actor: s.Actor, Kind: kind, Target: s.Target, Draws: s.draws, At: time.Duration(s.At)})
	}
}

// Guided is a strategy that makes picks one after the other, skips those that are not offered when their turn comes, and then
// goes on as fifo: no more faults, oldest first. A reducer removes picks from a failed run with it. It is the run's Tape, too.
type Guided struct {
	k       *Kernel
	seed    uint64
	picks   []Pick
	fifo    FIFO
	stopped bool
	draws   []uint64 // of the current pick

	timed bool
	late  []Pick // of a timed one: faults that were not offered when their turn came
}

// NewGuided returns a strategy that makes the picks. Where they have no random numbers left, those derive from the seed.
func NewGuided(seed uint64, picks []Pick) *Guided { return &Guided{seed: seed, picks: picks} }

// lateFor is how long after its time a fault of a timed strategy may still come.
const lateFor = 10 * time.Second

// NewTimed returns a strategy that makes the picks at their times. A pick whose time has not come waits for it, and a fault waits a little
// longer for its chance. So the picks after one that is left out find a program that acts in real time, more or less, where they found it
// before; NewGuided, for which they have an order only, would skip the most of them.
func NewTimed(seed uint64, picks []Pick) *Guided {
	return &Guided{seed: seed, picks: picks, timed: true}
}

// Bind sets the kernel that the strategy drives, in which it looks up the names of the picks.
func (g *Guided) Bind(k *Kernel) { g.k = k }

// Name returns "guided".
func (*Guided) Name() string { return "guided" }

// StopFaults ends the faults.
func (g *Guided) StopFaults() { g.stopped = true }

// Pick implements Strategy.
func (g *Guided) Pick(r *Ready, step uint64) (Choice, error) {
	var now time.Duration
	if g.timed {
		now = g.k.Elapsed()
		if c, ok := g.findLate(r, now); ok {
			return c, nil
		}
	}
	for len(g.picks) > 0 {
		p := &g.picks[0]
		if g.timed {
			advances := p.Kind.Class() == ClassTime
			if !advances && now < p.At {
				break
			}
			if advances && now >= p.At {
				g.picks = g.picks[1:]
				continue
			}
		}
		g.picks = g.picks[1:]
		if c, ok := g.find(r, p); ok {
			g.draws = p.Draws
			return c, nil
		}
		if g.timed && p.Fault() {
			g.late = append(g.late, *p)
		}
	}
	g.draws = nil
	return g.fifo.Pick(r, step)
}

// findLate returns a fault that had no chance when its turn came.
func (g *Guided) findLate(r *Ready, now time.Duration) (Choice, bool) {
	g.late = slices.DeleteFunc(g.late, func(p Pick) bool { return now > p.At+lateFor })
	for i := range g.late {
		if c, ok := g.find(r, &g.late[i]); ok {
			g.draws = g.late[i].Draws
			g.late = slices.Delete(g.late, i, i+1)
			return c, true
		}
	}
	return Choice{}, false
}

// find returns the oldest choice that matches a pick. The sequence number is not compared: it depends on what came before.
func (g *Guided) find(r *Ready, p *Pick) (Choice, bool) {
	id, ok := g.k.ActorByName(p.Actor)
	if !ok || p.Fault() && g.stopped {
		return Choice{}, false
	}
	if r.Time && r.Advance.Actor == id && r.Advance.Kind == p.Kind {
		return r.Advance, true
	}
	set := r.Actions
	if p.Fault() {
		set = r.Faults
	}
	for _, o := range set {
		if o.Actor == id && o.Kind == p.Kind && o.Target == p.Target {
			return o.Choice, true
		}
	}
	return Choice{}, false
}

// Draw implements Tape: the pick's numbers, then some that derive from the step.
func (g *Guided) Draw(step uint64, n int) (uint64, bool) {
	if n < len(g.draws) {
		return g.draws[n], true
	}
	x := g.seed ^ step*0x9e3779b97f4a7c15 ^ uint64(n)*0xd1342543de82ef95
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31, true
}
