package sim

import (
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// The ready set agrees with a map that is sorted on every read: it holds the choices offered and not withdrawn, in the order
// of actor and sequence, and counts faults by kind.
func TestReadySetAgainstASortedMap(t *testing.T) {
	kinds := []Kind{kindTestAct, kindTestLine, kindTestDrop, kindTestStall}
	rapid.Check(t, func(t *rapid.T) {
		k := NewKernel(Options{Strategy: NewFIFO()})
		for _, name := range []string{"a", "b", "c"} {
			k.Register(&fake{name: name})
		}
		model := map[Choice]bool{}
		gone := []Choice{{Actor: 1, Kind: kindTestAct, Seq: 1 << 30}}
		t.Repeat(map[string]func(*rapid.T){
			"offer": func(t *rapid.T) {
				id := ActorID(rapid.IntRange(1, 3).Draw(t, "actor"))
				kind := rapid.SampledFrom(kinds).Draw(t, "kind")
				model[k.Offer(id, kind, uint32(rapid.IntRange(0, 2).Draw(t, "target")))] = true
			},
			"withdraw": func(t *rapid.T) {
				if len(model) == 0 {
					t.Skip("nothing is offered")
				}
				c := rapid.SampledFrom(sorted(model)).Draw(t, "choice")
				if !k.Withdraw(c) {
					t.Fatalf("%s is offered, but cannot be withdrawn", k.Describe(c))
				}
				delete(model, c)
				gone = append(gone, c)
			},
			"withdraw a choice not offered": func(t *rapid.T) {
				c := rapid.SampledFrom(gone).Draw(t, "choice")
				if rapid.Bool().Draw(t, "other target") && len(model) > 0 {
					c = sorted(model)[0]
					c.Target += 1000
				}
				if k.Withdraw(c) {
					t.Fatalf("%s was withdrawn, but is not offered", k.Describe(c))
				}
			},
			"": func(t *rapid.T) {
				var actions, faults []Choice
				count := map[Kind]int{}
				for _, c := range sorted(model) {
					if c.Kind.Class() == ClassFault {
						faults = append(faults, c)
						count[c.Kind]++
					} else {
						actions = append(actions, c)
					}
				}
				r := k.Ready()
				if !slices.Equal(choices(r.Actions), actions) || !slices.Equal(choices(r.Faults), faults) {
					t.Fatalf("actions %v faults %v, want %v and %v", r.Actions, r.Faults, actions, faults)
				}
				if k.Quiet() != (len(actions) == 0) {
					t.Fatalf("Quiet = %v with %d actions", k.Quiet(), len(actions))
				}
				var want []FaultGroup
				for _, kind := range []Kind{kindTestDrop, kindTestStall} { // in the order of their names
					if count[kind] > 0 {
						want = append(want, FaultGroup{kind, count[kind]})
					}
				}
				if !slices.Equal(r.FaultGroups, want) {
					t.Fatalf("fault kinds %v, want %v", r.FaultGroups, want)
				}
			},
		})
	})
}

func sorted(set map[Choice]bool) []Choice {
	return slices.SortedFunc(maps.Keys(set), func(a, b Choice) int {
		if a.Actor != b.Actor {
			return int(a.Actor) - int(b.Actor)
		}
		return int(a.Seq) - int(b.Seq)
	})
}

func choices(set []Offer) []Choice {
	var cs []Choice
	for _, o := range set {
		cs = append(cs, o.Choice)
	}
	return cs
}
