package scenarios

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/informersim/informersim/fakeapiserver/fault"
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

// StrategyName is the name of the strategy, also where Strategy leaves it open, or to the seed.
func (o *Options) StrategyName() string {
	switch {
	case o.Strategy == Portfolio:
		return StrategyOfSeed(o.Seed)
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
