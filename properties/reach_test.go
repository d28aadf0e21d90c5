package properties_test

import (
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/sim"
)

var (
	ranges    = flag.Int("reach.ranges", 0, "number of disjoint ranges of seeds in which TestReach looks for each mutant; 0 skips it")
	reachBy   = flag.String("reach.strategy", "random", "the strategy of its runs")
	swarm     = flag.Bool("reach.swarm", false, "generate scenarios with generate.Swarm")
	rangeSize = flag.Uint64("reach.seeds", 1500, "number of seeds in a range; each makes three runs")
)

// One range of seeds should say what another does: this prints, for each mutant, after how many runs each range finds it.
//
//	go test ./properties -run TestReach$ -v -reach.ranges 7
//	go test ./properties -run TestReach$ -v -reach.ranges 7 -reach.swarm -reach.strategy portfolio
func TestReach(t *testing.T) {
	if *ranges == 0 {
		t.Skip("a measurement: give -reach.ranges")
	}
	var medians, all []int
	lost := 0
	for _, m := range mutants.All() {
		var runs []int
		for n := range *ranges {
			runs = append(runs, search(t, m, uint64(n)**rangeSize+1))
		}
		slices.Sort(runs)
		for _, r := range runs {
			if r == never {
				lost++
			}
		}
		medians, all = append(medians, runs[len(runs)/2]), append(all, runs...)
		t.Logf("%-45s median %5s  %v", m.Name, count(runs[len(runs)/2]), counts(runs))
	}
	slices.Sort(medians)
	slices.Sort(all)
	t.Logf("%d mutants, %d ranges: median of medians %s, worst median %s; 95 %% of searches within %s runs, all within %s; %d found nothing",
		len(medians), *ranges, count(medians[len(medians)/2]), count(medians[len(medians)-1]), count(all[len(all)*95/100]), count(all[len(all)-1]), lost)
}

// never is the number of runs of a search that finds nothing.
const never = 1 << 40

func count(runs int) string {
	if runs == never {
		return "never"
	}
	return fmt.Sprint(runs)
}

func counts(runs []int) []string {
	var texts []string
	for _, r := range runs {
		texts = append(texts, count(r))
	}
	return texts
}

// search returns how many runs it takes to find a mutant from that seed on.
func search(t *testing.T, m mutants.Mutant, from uint64) int {
	tries := 0
	for seed := from; seed < from+*rangeSize; seed++ {
		for _, a := range attemptsOf(t, seed) {
			tries++
			if checked(t, a.scenario(), m.Kind, a.seed, a.strategy, a.mix).Violation != nil {
				return tries
			}
		}
	}
	return never
}

type lazyAttempt struct {
	scenario      func() *scenarios.Scenario
	seed          uint64
	strategy, mix string
}

func attemptsOf(t *testing.T, seed uint64) []lazyAttempt {
	generated := func() *scenarios.Scenario {
		if !*swarm {
			return scenarioOf(t, seed)
		}
		s, err := generate.Swarm(sim.NewStream(seed, "generator"), fmt.Sprintf("swarm-%d", seed), 40)
		if err != nil {
			t.Fatal(err)
		}
		return s
	}
	return []lazyAttempt{{scenarios.BuiltIn, seed, *reachBy, "default"}, {generated, seed, *reachBy, "none"}, {generated, seed, *reachBy, "default"}}
}
