package world

import (
	"bytes"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"time"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/sim/shrink"
)

// optionShrunk, in the header's options of a shrunk trace, gives its original size.
const optionShrunk = "shrunkFrom"

// pick is a choice of a failed run, to be repeated if a matching choice is offered.
type pick struct {
	actor  string
	kind   sim.Kind
	target uint32
	draws  []uint64
	fault  bool
}

// guided is a strategy that makes picks one after the other, skips those that are not offered when their turn comes, and then
// continues as fifo: no more faults, oldest first.
type guided struct {
	k       *sim.Kernel
	seed    uint64
	picks   []pick
	fifo    *sim.FIFO
	stopped bool
	draws   []uint64 // of the current pick
}

// Name implements sim.Strategy.
func (*guided) Name() string { return "guided" }

// StopFaults ends the faults.
func (g *guided) StopFaults() { g.stopped = true }

// Pick implements sim.Strategy.
func (g *guided) Pick(r *sim.Ready, step uint64) (sim.Choice, error) {
	for len(g.picks) > 0 {
		p := &g.picks[0]
		g.picks = g.picks[1:]
		if c, ok := g.find(r, p); ok {
			g.draws = p.draws
			return c, nil
		}
	}
	g.draws = nil
	return g.fifo.Pick(r, step)
}

// find returns the oldest choice that matches a pick. The sequence number is not compared: it depends on what came before.
func (g *guided) find(r *sim.Ready, p *pick) (sim.Choice, bool) {
	id, ok := g.k.ActorByName(p.actor)
	if !ok || p.fault && g.stopped {
		return sim.Choice{}, false
	}
	if r.Time && r.Advance.Actor == id && r.Advance.Kind == p.kind {
		return r.Advance, true
	}
	set := r.Actions
	if p.fault {
		set = r.Faults
	}
	for _, o := range set {
		if o.Actor == id && o.Kind == p.kind && o.Target == p.target {
			return o.Choice, true
		}
	}
	return sim.Choice{}, false
}

// Draw implements sim.Tape: the pick's draws, then numbers derived from the step.
func (g *guided) Draw(step uint64, n int) (uint64, bool) {
	if n < len(g.draws) {
		return g.draws[n], true
	}
	x := g.seed ^ step*0x9e3779b97f4a7c15 ^ uint64(n)*0xd1342543de82ef95
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31, true
}

// picksOf reads the choices of a trace.
func picksOf(trace []byte) ([]pick, error) {
	tr, err := sim.NewTraceReader("the run", bytes.NewReader(trace))
	if err != nil {
		return nil, err
	}
	var picks []pick
	for {
		s, err := tr.Next()
		if err == io.EOF {
			return picks, nil
		}
		if err != nil {
			return nil, err
		}
		kind, ok := sim.KindByName(s.Kind)
		if !ok {
			return nil, fmt.Errorf("there is no choice %q", s.Kind)
		}
		p := pick{actor: s.Actor, kind: kind, target: s.Target, fault: kind.Class() == sim.ClassFault}
		for _, d := range s.Draws {
			n, err := strconv.ParseUint(d, 16, 64)
			if err != nil {
				return nil, err
			}
			p.draws = append(p.draws, n)
		}
		picks = append(picks, p)
	}
}

// shrinker looks for a simpler run that breaks the same property.
type shrinker struct {
	r        *runner
	header   sim.Header
	property string
	deadline time.Time
	maxSteps uint64
	best     *outcome // the simplest run so far
	failed   bool     // a run has failed the test, or the test is gone
}

// shrink simplifies a failure within its time limit: without faults, with fewer, with an end that is as orderly as possible, with
// a shorter schedule. The outcome that it returns is that of an actual run, with its trace.
func (r *runner) shrink(res *outcome) *outcome {
	limit := r.task.Shrink
	if limit <= 0 || res.violation == nil || res.escaped != nil || res.testFailed || r.peer.gone != nil || r.o.Strategy == "fifo" {
		return res
	}
	picks, err := picksOf(res.trace.Bytes())
	if err != nil {
		r.logf("the failure was not shrunk: %v", err)
		return res
	}
	s := &shrinker{r: r, property: res.violation.Property, deadline: r.host.Now().Add(limit), maxSteps: 2*res.steps + 1000, best: res}
	s.header = res.header
	s.header.Options = maps.Clone(res.header.Options)
	s.header.Options[optionShrunk] = fmt.Sprintf("%d steps, %d faults", res.steps, res.faults)
	s.reduce(picks)
	return s.best
}

// reduce looks for few picks with which the run still breaks; the rest of the run follows fifo. Faults are removed first, then the
// end.
func (s *shrinker) reduce(picks []pick) {
	reducer := shrink.Reducer[pick]{Fails: s.breaks, Stop: s.over}
	if s.over() || s.breaks(nil) {
		return // it breaks without any of the picks
	}
	isFault := func(p pick) bool { return p.fault }
	if calm := slices.DeleteFunc(slices.Clone(picks), isFault); !s.over() && s.breaks(calm) {
		picks = calm
	}
	picks = reducer.Truncate(picks)
	picks = reducer.ReduceOnly(picks, isFault)
	picks = reducer.ReduceOnly(picks, func(p pick) bool { return !p.fault })
	reducer.Truncate(picks)
}

func (s *shrinker) over() bool { return !s.r.host.Now().Before(s.deadline) || s.failed }

// breaks reports whether a run with these picks breaks the same property, and keeps it if it is simpler than the best.
func (s *shrinker) breaks(picks []pick) bool {
	res := s.r.play(source{header: s.header, picks: &picks, maxSteps: s.maxSteps})
	s.failed = s.failed || res.testFailed || res.stuck || s.r.peer.gone != nil
	if res.violation == nil || res.violation.Property != s.property || res.escaped != nil {
		return false
	}
	if res.faults < s.best.faults || res.faults == s.best.faults && res.steps <= s.best.steps {
		s.best = res
	}
	return true
}
