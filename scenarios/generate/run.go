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
func OfSeed(seed uint64, corpus []*scenarios.Scenario) (Run, error) {
	src := sim.NewStream(seed, "run")
	mix := drawMix(src)
	if len(corpus) > 0 {
		return Run{Scenario: pick(src, corpus...), Strategy: "random", Mix: mix}, nil
	}
	r := Run{Strategy: "random", Mix: mix}
	if src.IntN(8) == 0 {
		r.Strategy, r.Mix = "fifo", nil
	}
	var err error
	r.Scenario, err = Scenario(src, fmt.Sprintf("seed%d", seed), leastCommands+src.IntN(mostCommands-leastCommands+1))
	return r, err
}

// mixes are the built-in mixes that a seed draws from; nil is none.
var mixes = func() []*fault.Mix {
	all := []*fault.Mix{nil}
	for _, name := range []string{"light", "default", "default", "storm", "edges"} {
		m, err := fault.MixNamed(name)
		if err != nil {
			panic(err) // it is built in
		}
		all = append(all, &m)
	}
	return all
}()

func drawMix(src Source) *fault.Mix { return pick(src, mixes...) }
