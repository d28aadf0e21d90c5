package fault

import (
	"fmt"
	"testing"
)

// Two neighbouring seeds have each kind of a swarm exactly once between them; other pairs split the kinds in other ways.
func TestDrawHalf(t *testing.T) {
	m, err := MixNamed("edges")
	if err != nil {
		t.Fatal(err)
	}
	splits := map[string]bool{}
	for seed := uint64(1); seed < 100; seed += 2 {
		a, b := m.DrawHalf(seed), m.DrawHalf(seed+1)
		for kind := range m.Rates {
			if (a.Rates[kind] > 0) == (b.Rates[kind] > 0) {
				t.Errorf("seeds %d and %d: %s has the rates %v and %v", seed, seed+1, kind, a.Rates[kind], b.Rates[kind])
			}
		}
		if err := a.Validate(); err != nil || len(a.Kinds())+len(b.Kinds()) != len(m.Kinds()) {
			t.Errorf("seed %d: %d and %d kinds of %d, %v", seed, len(a.Kinds()), len(b.Kinds()), len(m.Kinds()), err)
		}
		if again := m.DrawHalf(seed); fmt.Sprint(again) != fmt.Sprint(a) {
			t.Errorf("seed %d draws %v, and then %v", seed, a, again)
		}
		splits[fmt.Sprint(a.Kinds())] = true
	}
	if len(splits) != 50 {
		t.Errorf("50 pairs split the kinds in %d ways", len(splits))
	}
	m.Swarm = false
	if d := m.DrawHalf(7); fmt.Sprint(d) != fmt.Sprint(m) {
		t.Errorf("a mix that is no swarm is drawn as %v", d)
	}
}
