package generate_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/sim"
)

// A seed names a swarm's scenario, too; scenarios differ in what they are made of, and together they have everything.
func TestSwarm(t *testing.T) {
	words := []string{"settle", "advance", "step", "compact", "hold", "release", "handler", "worker", "reconcile", "handle", "stop", "writer"}
	with := map[string]int{}
	oneObject := 0
	const seeds = 200
	for seed := uint64(1); seed <= seeds; seed++ {
		text := func() string {
			s, err := generate.Swarm(sim.NewStream(seed, "swarm"), fmt.Sprintf("swarm-%d", seed), 40)
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			return s.Text()
		}
		made := text()
		if made != text() {
			t.Fatalf("seed %d makes two scenarios", seed)
		}
		for _, w := range words {
			if strings.Contains("\n"+made, "\n"+w+" ") || strings.Contains("\n"+made, "\n"+w+"\n") {
				with[w]++
			}
		}
		if strings.Contains(made, "/a") && !strings.Contains(made, "/b") && !strings.Contains(made, "/c") {
			oneObject++
		}
	}
	for _, w := range words {
		if with[w] < seeds/20 || with[w] == seeds {
			t.Errorf("%d of %d scenarios have the command %s", with[w], seeds, w)
		}
	}
	if oneObject < seeds/20 {
		t.Errorf("%d of %d scenarios are about one name", oneObject, seeds)
	}
}
