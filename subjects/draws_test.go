package subjects

import (
	"math/rand"
	"testing"
)

// A cause's draws do not depend on other draws, and equal those of a math/rand source with the same seed.
func TestDraws(t *testing.T) {
	alone := NewDraws(7)
	alone.Begin("conn/i1")
	a, b := alone.Float64(), alone.Float64()
	if a == b {
		t.Errorf("two draws are the same: %v", a)
	}
	among := NewDraws(7)
	among.Begin(ByScript)
	script := among.Float64()
	among.Begin("conn/i2")
	other := among.Float64()
	among.Begin("conn/i1")
	if got := among.Float64(); got != a {
		t.Errorf("among others %v is drawn, alone %v", got, a)
	}
	if got := among.Float64(); got != b {
		t.Errorf("the second number is %v, alone %v", got, b)
	}
	if script == a || other == a || script == other {
		t.Errorf("conn/i1, conn/i2 and the script draw %v, %v, %v", a, other, script)
	}
	if got := rand.New(rand.NewSource(alone.Source("conn/i1"))).Float64(); got != a {
		t.Errorf("a source of that seed gives %v, not %v", got, a)
	}
	next := NewDraws(8)
	next.Begin("conn/i1")
	if next.Float64() == a {
		t.Error("seeds 7 and 8 draw the same")
	}
	var none *Draws
	none.Begin(ByClock) // a run without them
}
