package properties

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/internal/garbage"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/kinds"
)

var livelockSeeds = flag.Int("livelock.seeds", 30, "the number of seeds of TestLivelockBounds")

// busiest holds the maxima of a second of virtual time.
type busiest struct {
	requests, resyncs int
	steps             uint64
	share             float64 // of the allowed steps
	requestsBy        string
}

// observed returns NoLivelock without its verdict: it notes the maxima in b.
func (b *busiest) observed(run string) Property {
	p := NoLivelock
	p.New = func() Checker {
		m := newLivelockMeter()
		return Checker{
			Record: func(w World, r *sim.Record) *reports.Violation {
				m.record(w, r)
				switch r.Kind {
				case fakeapiserver.KindRequest:
					if n := m.clients.get(r.Actor).n; n > b.requests {
						b.requests, b.requestsBy = n, run
					}
				case subjects.KindResync:
					b.resyncs = max(b.resyncs, m.informers.get(r.Actor).n)
				}
				return nil
			},
			StepEnd: func(w World) *reports.Violation {
				m.stepEnd(w)
				steps := w.Kernel().Steps() - m.start
				b.steps = max(b.steps, steps)
				b.share = max(b.share, float64(steps)/float64(m.allowed(w)))
				return nil
			},
		}
	}
	return p
}

// Correct stacks stay far below the bounds, under the worst of the built-in mixes and with the busiest of generated scenarios.
func TestLivelockBounds(t *testing.T) {
	t.Cleanup(garbage.CollectSeldom())
	storm, err := fault.MixNamed("storm")
	if err != nil {
		t.Fatal(err)
	}
	for _, kind := range kinds.All() {
		t.Run(kind.Name, func(t *testing.T) {
			b := &busiest{}
			for seed := uint64(1); seed <= uint64(*livelockSeeds); seed++ {
				generated, err := generate.Scenario(sim.NewStream(seed, "generator"), fmt.Sprintf("generated-%d", seed), 60)
				if err != nil {
					t.Fatal(err)
				}
				for _, s := range []*scenarios.Scenario{scenarios.BuiltIn(), generated} {
					for _, mix := range []*fault.Mix{&storm, nil} {
						o := scenarios.Options{
							Subject: kind, Seed: seed, Strategy: "random", Mix: mix, Properties: []Property{b.observed(fmt.Sprintf("%s seed %d", s.Name, seed))},
						}
						if _, err := scenarios.Run(context.Background(), s, o); err != nil {
							t.Fatal(err)
						}
					}
				}
			}
			t.Logf("%d seeds, maxima of a second of virtual time: %d lists and watches of one informer (%s; bound %d), %d resyncs (%d), %d steps, %.4f of those allowed",
				*livelockSeeds, b.requests, b.requestsBy, maxRepeats, b.resyncs, maxRepeats, b.steps, b.share)
			if b.requests == 0 || b.resyncs == 0 || b.steps == 0 {
				t.Error("nothing was measured")
			}
			if b.requests > maxRepeats/4 || b.resyncs > maxRepeats/4 || b.share > 0.25 {
				t.Error("a correct stack comes within a factor of 4 of a bound")
			}
		})
	}
}
