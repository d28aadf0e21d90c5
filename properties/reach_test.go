package properties_test

import (
	"cmp"
	"flag"
	"fmt"
	"slices"
	"testing"

	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
)

var (
	ranges    = flag.Int("reach.ranges", 0, "number of disjoint ranges of seeds in which TestReach looks for each mutant; 0 skips it")
	reachBy   = flag.String("reach.strategy", "", "the strategy of all its runs; by default what informersim fuzz has")
	rangeSize = flag.Uint64("reach.seeds", 4500, "number of seeds in a range")
)

// One range of seeds should say what another does: this prints, for each mutant, after how many runs of informersim fuzz each range
// finds it.
//
//	go test ./properties -run TestReach$ -v -reach.ranges 5
//	go test ./properties -run TestReach$ -v -reach.ranges 5 -reach.strategy portfolio
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
	for n := range *rangeSize {
		if fuzzedSeed(t, m, from+n).Violation != nil {
			return int(n) + 1
		}
	}
	return never
}

// fuzzedSeed makes the run of a seed, as informersim fuzz does.
func fuzzedSeed(t *testing.T, m mutants.Mutant, seed uint64) *scenarios.Result {
	r, err := generate.OfSeed(seed, nil)
	if err != nil {
		t.Fatal(err)
	}
	res, err := scenarios.Run(t.Context(), r.Scenario, scenarios.Options{
		Subject: m.Kind, Seed: seed, Strategy: cmp.Or(*reachBy, r.Strategy), Mix: r.Mix, Properties: properties.All(), MaxSteps: 2_000_000,
	})
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return res
}
