package generate

import (
	"fmt"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
)

// Run is what a seed makes a run of: a scenario, and how it is played.
type Run struct {
	Scenario *scenarios.Scenario
	// Strategy and Mix are those of [scenarios.Options]; Mix is nil for none.
	Strategy string
	Mix      *fault.Mix
}

// The length of a seed's scenario, in commands after its beginning. Short ones find what long ones hide, and the other way round.
const (
	leastCommands = 5
	mostCommands  = 60
)

// OfSeed returns the run of a seed. Without a corpus it makes the scenario. With one, it plays one of its scenarios, which the seed
// chooses, in another order of events each time.
//
// Neighbouring seeds differ on purpose, so that a short range of seeds has everything: they take the mixes in turn, and the two that
// have the same one share its kinds of faults between them ([fault.Mix.DrawHalf]).
func OfSeed(seed uint64, corpus []*scenarios.Scenario) (Run, error) {
	src := sim.NewStream(seed, "run")
	r := Run{Strategy: "random"}
	if mix := mixes[(seed+1)/2%uint64(len(mixes))]; mix != nil {
		half := mix.DrawHalf(seed)
		r.Mix = &half
	}
	if len(corpus) > 0 {
		r.Scenario = pick(src, corpus...)
		return r, nil
	}
	if r.Mix == nil && src.IntN(2) == 0 {
		r.Strategy = "fifo"
	}
	var err error
	r.Scenario, err = Swarm(src, fmt.Sprintf("seed%d", seed), leastCommands+src.IntN(mostCommands-leastCommands+1))
	return r, err
}

// mixes are the built-in mixes that pairs of seeds take in turn; nil is none. Few are of many faults: the next relist or retry makes good
// what went wrong before.
var mixes = func() []*fault.Mix {
	var all []*fault.Mix
	for _, name := range []string{"default", "light", "storm", "none", "light", "default", "edges", "none"} {
		if name == "none" {
			all = append(all, nil)
			continue
		}
		all = append(all, mixNamed(name))
	}
	return all
}()
