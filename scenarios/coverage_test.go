package scenarios_test

import (
	"maps"
	"slices"
	"testing"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects/stack"
)

// What faults meet is counted, with the states that the script brings about; the counts of two runs add up.
func TestCover(t *testing.T) {
	const script = `resource pods
create pods default/a
informer i1 pods queue=delta watch-list=off
settle
fault i1 watch=410
create pods default/b
settle
compact
`
	s, err := scenarios.Parse("cover.sim", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	var cover *scenarios.Cover
	res, err := scenarios.Run(t.Context(), s, scenarios.Options{Subject: stack.Kind, Observe: func(w *scenarios.World) []sim.Observer {
		cover = scenarios.NewCover(w)
		return []sim.Observer{cover}
	}})
	if err != nil || !res.Passed() {
		t.Fatal(err, res)
	}
	c := cover.Coverage()
	if got := c.Meets["watch-410"]; got[reports.StateWatches] != 1 || len(got) != 1 {
		t.Errorf("watch-410 has met %v", got)
	}
	var names []string
	total := 0
	for _, f := range res.Faults {
		names, total = append(names, f.Name), total+f.Count
	}
	if got := slices.Sorted(maps.Keys(c.Meets)); !slices.Equal(got, names) {
		t.Errorf("the faults are %v, want %v", got, names)
	}
	pairs := 0
	for _, row := range c.Pairs { // order: a sum
		for _, n := range row { // order: a sum
			pairs += n
		}
	}
	if pairs != total-1 {
		t.Errorf("%d pairs of %d faults: %v", pairs, total, c.Pairs)
	}
	var sum reports.Coverage
	sum.Add(nil)
	sum.Add(c)
	sum.Add(c)
	if sum.Meets["watch-410"][reports.StateWatches] != 2 {
		t.Errorf("twice that is %v", sum.Meets)
	}
}
