package sim

import (
	"errors"
	"fmt"
	"testing"
	"time"
)

// searched makes all runs of a relay of actors, and calls seen with the order of each that came to its end.
func searched(t *testing.T, o SearchOptions, actors, steps int, seen func([]ActorID)) SearchStats {
	t.Helper()
	s := NewSearch(o)
	for strategy := s.Next(); strategy != nil; strategy = s.Next() {
		k, order := relay(strategy, actors, steps)
		for k.Step() {
		}
		s.Ended(k.Steps())
		if k.Err() == nil {
			seen(*order)
		} else if !errors.Is(k.Err(), ErrSeen) {
			t.Fatal(k.Err())
		}
	}
	return s.Stats()
}

func TestSearchMakesAllRuns(t *testing.T) {
	orders := map[string]int{}
	stats := searched(t, SearchOptions{Delays: -1}, 3, 2, func(o []ActorID) { orders[fmt.Sprint(o)]++ })
	if len(orders) != 90 || stats.Runs != 90 || stats.Cut != 0 { // 6!/(2!·2!·2!)
		t.Errorf("%d orders in %+v, want 90", len(orders), stats)
	}
	// Steps that touch nothing in common: a state is how far each actor has come.
	own := func(*Kernel, Choice) Effect { return TouchesOwn }
	stats = searched(t, SearchOptions{Delays: -1, Effect: own}, 3, 2, func([]ActorID) {})
	if stats.States != 26 || stats.Runs != 3 { // 3³, but for the last, at which nothing is left to pick
		t.Errorf("%+v, want 26 states, and a run for each step that can be the last", stats)
	}
}

// With no delay there is one run; with one, each actor but the last may be delayed at each of its turns.
func TestSearchDelays(t *testing.T) {
	for delays, want := range []int{1, 4, 6} {
		orders := map[string]bool{}
		searched(t, SearchOptions{Delays: delays}, 2, 2, func(o []ActorID) { orders[fmt.Sprint(o)] = true })
		if len(orders) > want || len(orders) == 0 || delays == 2 && len(orders) != 6 || delays == 0 && len(orders) != 1 {
			t.Errorf("%d delays: %d orders, want %d: %v", delays, len(orders), want, orders)
		}
	}
}

// Time passes early as often as allowed, and no further than allowed; faults happen as often as allowed.
func TestSearchBounds(t *testing.T) {
	most, faults := map[time.Duration]bool{}, uint64(0)
	s := NewSearch(SearchOptions{Delays: -1, Early: 1, Within: time.Second, Faults: 1})
	for strategy := s.Next(); strategy != nil; strategy = s.Next() {
		k := NewKernel(Options{Strategy: strategy})
		f := &fake{name: "a"}
		id := k.Register(f)
		var at time.Duration
		f.apply = func(c Choice) {
			if c.Kind == kindTestAct {
				at = k.Elapsed()
			}
		}
		strategy.Bind(k)
		k.Offer(id, kindTestAct, 0)
		k.Offer(id, kindTestDrop, 0)
		k.Offer(id, kindTestStall, 0)
		for _, d := range []time.Duration{time.Second, 2 * time.Second, time.Minute} {
			k.Clock().AfterFunc(d, func() {})
		}
		for k.Step() {
		}
		s.Ended(k.Steps())
		if k.Err() == nil {
			most[at], faults = true, max(faults, k.Faults())
		}
	}
	if len(most) != 2 || !most[0] || !most[time.Second] || faults != 1 {
		t.Errorf("the action happened at %v, with up to %d faults; want 0s and 1s, and 1", most, faults)
	}
}
