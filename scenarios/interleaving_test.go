package scenarios_test

import (
	"bytes"
	"context"
	"strings"
	"testing"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

// interleavable is the stack with hosts that only count.
func interleavable(straight, interleaved *int) subjects.Kind {
	k := stack.Kind
	count := func(n *int) subjects.Host {
		return func(_ uint64, run func()) error {
			*n++
			run()
			return nil
		}
	}
	k.Host, k.Interleaved = count(straight), count(interleaved)
	return k
}

// About half of the seeds of an exploration are interleaved, the same ones each time; transcripts only if they are asked to be. The trace says so, and
// a replay does as it says.
func TestInterleaving(t *testing.T) {
	ctx := context.Background()
	for name, test := range map[string]struct {
		strategy    string
		interleave  scenarios.Interleaving
		least, most int
	}{
		"by seed":     {"random", scenarios.InterleaveBySeed, 5, 15},
		"on":          {"random", scenarios.InterleaveOn, 20, 20},
		"off":         {"random", scenarios.InterleaveOff, 0, 0},
		"transcripts": {"fifo", scenarios.InterleaveBySeed, 0, 0},
		"on fifo":     {"fifo", scenarios.InterleaveOn, 20, 20},
	} {
		t.Run(name, func(t *testing.T) {
			var straight, interleaved int
			for seed := range uint64(20) {
				var trace bytes.Buffer
				o := scenarios.Options{Subject: interleavable(&straight, &interleaved), Seed: seed, Strategy: test.strategy, Interleave: test.interleave, Trace: &trace}
				before := interleaved
				if _, err := scenarios.Run(ctx, scenarios.BuiltIn(), o); err != nil {
					t.Fatal(err)
				}
				tr, err := sim.NewTraceReader("trace", &trace)
				if err != nil {
					t.Fatal(err)
				}
				h, was := tr.Header(), interleaved > before
				if scenarios.Interleaves(&h) != was {
					t.Errorf("seed %d: the trace says %t of a run that is interleaved: %t", seed, !was, was)
				}
				before = interleaved
				if _, err := scenarios.Replay(ctx, tr, scenarios.Options{Subject: o.Subject}); err != nil || (interleaved > before) != was {
					t.Errorf("seed %d: the replay is interleaved: %t, want %t; %v", seed, !was, was, err)
				}
			}
			if runs := interleaved / 2; straight+interleaved != 40 || runs < test.least || runs > test.most {
				t.Errorf("%d of 20 runs are interleaved, want %d to %d", runs, test.least, test.most)
			}
		})
	}
}

// What cannot be interleaved is refused with the reason.
func TestInterleavingIsRefused(t *testing.T) {
	k := stack.Kind
	for reason, want := range map[string]string{"it rains": "it rains", "": "it has none"} {
		k.NotInterleaved = reason
		_, err := scenarios.Run(context.Background(), scenarios.BuiltIn(), scenarios.Options{Subject: k, Strategy: "random", Interleave: scenarios.InterleaveOn})
		if err == nil || !strings.Contains(err.Error(), "stack cannot be interleaved: "+want) {
			t.Errorf("the error is %v, want %q in it", err, want)
		}
	}
}
