package sim

import "testing"

// A toggle has one offer at most, and can be offered again once it was picked.
func TestToggle(t *testing.T) {
	k := NewKernel(Options{Strategy: NewFIFO()})
	var toggle Toggle
	f := &fake{name: "a"}
	picked := 0
	f.apply = func(Choice) { picked++; toggle.Taken() }
	id := k.Register(f)
	set := func(want bool, enabled int) {
		t.Helper()
		if toggle.Set(k, id, kindTestAct, want); len(k.Ready().Actions) != enabled {
			t.Errorf("after Set(%v) %d choices are enabled, want %d", want, len(k.Ready().Actions), enabled)
		}
	}
	set(false, 0)
	set(true, 1)
	set(true, 1)
	set(false, 0)
	stamp := k.NextStamp()
	set(true, 1)
	k.Step()
	toggle.SetSince(k, id, kindTestAct, true, stamp)
	if o := k.Ready().Actions; len(o) != 1 || o[0].Stamp != stamp {
		t.Errorf("offered since %d: %+v", stamp, o)
	}
	k.Step()
	set(false, 0)
	if picked != 2 {
		t.Errorf("picked %d times", picked)
	}
}
