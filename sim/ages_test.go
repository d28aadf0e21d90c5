package sim

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// In a ready set of any size, while it grows and shrinks and offers are withdrawn, fifo picks the action that a full scan
// finds to be the oldest.
func TestOldestOfACrowd(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		k := NewKernel(Options{Strategy: NewFIFO()})
		var applied Choice
		for _, name := range []string{"a", "b", "c"} {
			k.Register(&fake{name: name, apply: func(c Choice) { applied = c }})
		}
		var model []Offer // in canonical order
		offer := func(t *rapid.T) {
			id := ActorID(rapid.IntRange(1, 3).Draw(t, "actor"))
			var c Choice
			switch rapid.IntRange(0, 5).Draw(t, "how") {
			case 0:
				c = k.Offer(id, kindTestLine, 0)
			case 1:
				since := k.NextStamp() - uint64(rapid.IntRange(0, 200).Draw(t, "age"))
				c = k.OfferSince(id, kindTestAct, 0, max(1, min(since, k.NextStamp())))
			default:
				c = k.Offer(id, kindTestAct, 0)
			}
			i := find(k.ready.Actions, c)
			if i < 0 {
				t.Fatalf("%v is not in the ready set", c)
			}
			model = append(model, k.ready.Actions[i])
			slices.SortFunc(model, func(a, b Offer) int { return int(int64(a.order() - b.order())) })
		}
		withdraw := func(t *rapid.T) {
			if len(model) == 0 {
				return
			}
			i := rapid.IntRange(0, len(model)-1).Draw(t, "which")
			if !k.Withdraw(model[i].Choice) {
				t.Fatalf("%v cannot be withdrawn", model[i])
			}
			model = slices.Delete(model, i, i+1)
		}
		step := func(t *rapid.T) {
			if len(model) == 0 {
				return
			}
			i := oldest(model)
			if !k.Step() || applied != model[i].Choice {
				t.Fatalf("%v was picked of %d, the oldest is %v", applied, len(model), model[i])
			}
			model = slices.Delete(model, i, i+1)
		}
		for range rapid.IntRange(1, 12).Draw(t, "phases") {
			do := rapid.SampledFrom([]func(*rapid.T){offer, offer, withdraw, step}).Draw(t, "phase")
			for range rapid.SampledFrom([]int{1, 10, crowd / 2, crowd + 5, 3 * crowd}).Draw(t, "times") {
				do(t)
			}
			if !slices.Equal(k.ready.Actions, model) {
				t.Fatalf("the ready set has %d actions, %d were offered: %v, want %v", len(k.ready.Actions), len(model), k.ready.Actions, model)
			}
		}
	})
}
