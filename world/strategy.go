package world

import (
	"fmt"
	"strings"

	"github.com/informersim/informersim/sim"
)

// fifo is the strategy that picks the oldest event and no faults; defaultStrategy is that of a test that names none.
const (
	fifo            = "fifo"
	defaultStrategy = "random"
)

// strategies are the values of Options.Strategy.
var strategies = []struct {
	name string
	make func(seed uint64, rate sim.FaultRate) sim.Strategy
}{
	{defaultStrategy, func(seed uint64, rate sim.FaultRate) sim.Strategy { return sim.NewRandom(seed, rate) }},
	{fifo, func(uint64, sim.FaultRate) sim.Strategy { return sim.NewFIFO() }},
}

// newStrategy returns the strategy of that name for a seed.
func newStrategy(name string, seed uint64, rate sim.FaultRate) (sim.Strategy, error) {
	var names []string
	for _, s := range strategies {
		if s.name == name {
			return s.make(seed, rate), nil
		}
		names = append(names, s.name)
	}
	last := len(names) - 1
	return nil, fmt.Errorf("Options.Strategy is %q: it must be %s or %s", name, strings.Join(names[:last], ", "), names[last])
}

// choose sets up what makes the run's choices: a strategy, or what repeats another run. The strategy's own faults spare the helpers' client.
func (w *world) choose(s source) (tape sim.Tape, err error) {
	switch {
	case s.replay != nil && s.cut:
		c := newCutReplay(s.replay, w.seed, s.next)
		w.strategy = c
		return c, nil
	case s.replay != nil:
		w.strategy = s.replay
		return s.replay, nil
	case s.picks != nil:
		g := sim.NewGuided(w.seed, *s.picks)
		if s.timed {
			g = sim.NewTimed(w.seed, *s.picks)
		}
		w.strategy = g
		return g, nil
	}
	strategy, err := newStrategy(w.o.Strategy, w.seed, func(k sim.Kind) float64 {
		if k == kindCrash {
			return w.config.crashes
		}
		return w.config.mix.Rate(k)
	})
	if err != nil {
		return nil, err
	}
	if w.strategy = strategy; w.o.Strategy != fifo {
		w.filter = &faultFilter{Strategy: strategy}
		w.strategy = w.filter
	}
	return nil, nil
}

// bind tells a strategy its kernel, if it wants to know.
func (w *world) bind() {
	s := w.strategy
	if w.filter != nil {
		s = w.filter.Strategy
	}
	if b, ok := s.(interface{ Bind(*sim.Kernel) }); ok {
		b.Bind(w.kernel)
	}
}
