package timeline_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/informersim/informersim/reports/timeline"
	"github.com/informersim/informersim/sim"
)

// A stopped informer keeps what it has, but nothing that waits; its next life has nothing at first, and what it lists is new to its handlers.
func TestLivesOfAnInformer(t *testing.T) {
	object := func(kind, actor, detail string) sim.TraceRecord {
		return sim.TraceRecord{Kind: kind, Actor: actor, Key: "default/a", RV: 1, Detail: detail}
	}
	steps := []sim.TraceStep{
		{Records: []sim.TraceRecord{{Kind: "commit", Actor: "cluster", Key: "pods default/a", RV: 1, Detail: "ADDED"}}},
		{Records: []sim.TraceRecord{{Kind: "request", Actor: "conn/i1", Key: "pods", N: 1, Detail: `list rv="0"`}, {Kind: "handler", Actor: "i1/h1", Detail: "added"}, {Kind: "handler", Actor: "i1/h2", Detail: "added"}}},
		{Records: []sim.TraceRecord{object("indexer", "i1", "add")}},
		{Records: []sim.TraceRecord{object("notify", "i1/h1", "add initial")}},
		{Records: []sim.TraceRecord{{Kind: "stopped", Actor: "i1"}}},
		{Records: []sim.TraceRecord{{Kind: "restarted", Actor: "i1"}, {Kind: "handler", Actor: "i1/h1", Detail: "added"}, {Kind: "handler", Actor: "i1/h2", Detail: "added"}}},
	}
	for i := range steps {
		steps[i].Step, steps[i].Actor, steps[i].Kind = uint64(i+1), "script", "command"
	}
	tl, err := timeline.Of(sim.Header{}, steps, nil)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		step                       uint64
		indexer, told, waits, does string
	}{
		{4, "pods default/a@1 add", "pods default/a@1 add initial", "pods default/a@1 add", ""},
		{5, "pods default/a@1 add", "pods default/a@1 add initial", "", "does@0 is stopped"},
		{6, "", "", "", "does@0 is started again"},
	} {
		at := func(lane string, kind timeline.PartKind) string {
			var all []string
			for n, items := range tl.State(c.step) {
				if p := tl.Parts[n]; tl.Lanes[p.Lane].Name == lane && p.Kind == kind {
					for _, i := range items {
						all = append(all, fmt.Sprintf("%s@%d %s", i.Key, i.RV, i.Note))
					}
				}
			}
			return strings.Join(all, " ")
		}
		if got := at("i1 Indexer", timeline.PartIndexer); got != c.indexer {
			t.Errorf("step %d: the Indexer has %q, want %q", c.step, got, c.indexer)
		}
		if got := at("i1/h1", timeline.PartTold); got != c.told {
			t.Errorf("step %d: h1 was told %q, want %q", c.step, got, c.told)
		}
		if got := at("i1/h2", timeline.PartRing); got != c.waits {
			t.Errorf("step %d: for h2 waits %q, want %q", c.step, got, c.waits)
		}
		if got := at("i1", timeline.PartReflector); got != c.does {
			t.Errorf("step %d: the reflector: %q, want %q", c.step, got, c.does)
		}
	}
}
