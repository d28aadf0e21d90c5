package scenarios

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"time"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

// endings is a property that never breaks. It collects in what ways runs end: what each handler was told, in order.
func endings(all map[string]int) property.Property {
	return property.Property{
		Name: "Endings", Kinds: []sim.Kind{subjects.KindNotify},
		New: func() property.Checker {
			told := ""
			return property.Checker{
				Record: func(w property.World, r *sim.Record) *reports.Violation {
					told += fmt.Sprintf("%s %s %s %d %d;", w.Kernel().ActorName(r.Actor), r.Detail, r.Key, r.RV, r.N)
					return nil
				},
				End: func(property.World) *reports.Violation { all[told]++; return nil },
			}
		},
	}
}

// The state hash merges only what has the same future: a search that merges nothing finds no other ending, for any queue, with and
// without a fault, a paged list and a second informer.
func TestStatesWithOneHashHaveOneFuture(t *testing.T) {
	for _, test := range []struct {
		script string
		faults []fault.Kind
		delays int
	}{
		{"resource pods\ninformer i1 pods handlers=h1 queue=%s watch-list=off page=0 resync=0s\ncreate pods default/a", nil, -1},
		{"resource pods\ncreate pods default/a default/b\ninformer i1 pods handlers=h1 queue=%s watch-list=off page=1 resync=0s\nupdate pods default/a", nil, 1},
		{"resource pods\ninformer i1 pods handlers=h1 queue=%s watch-list=on page=0 resync=0s\ncreate pods default/a", []fault.Kind{fault.Watch410, fault.WatchOpen429}, 1},
		{"resource pods\ninformer i1 pods handlers=h1 queue=%[1]s watch-list=off page=0 resync=0s\ninformer i2 pods handlers=h2 queue=%[1]s watch-list=off page=0 resync=0s\ncreate pods default/a", nil, 1},
		{"resource pods\ncreate pods default/a\ninformer i1 pods handlers=h1 queue=%s watch-list=off page=0 resync=0s\nfault i1 watch=410\ndelete pods default/a", []fault.Kind{fault.ListStale}, 1},
	} {
		for _, queue := range stack.Kind.Queues {
			s, err := Parse("small", []byte(fmt.Sprintf(test.script, queue)))
			if err != nil {
				t.Fatal(err)
			}
			mix := fault.Mix{Name: "some", Rates: map[string]float64{}}
			for _, k := range test.faults {
				mix.Rates[string(k)] = 1
			}
			search := func(effect func(*sim.Kernel, sim.Choice) sim.Effect) (map[string]int, sim.SearchStats) {
				all := map[string]int{}
				o := Options{Subject: stack.Kind, Seed: 1, Strategy: Exhaustive, Mix: &mix, Properties: []property.Property{endings(all)}}
				h, err := o.header(s)
				if err != nil {
					t.Fatal(err)
				}
				found := sim.NewSearch(sim.SearchOptions{
					Faults: 1, Early: 1, Within: 45 * time.Second, Delays: test.delays, States: 20_000, Effect: effect, Component: component, Shared: serves,
				})
				if err := allRuns(context.Background(), s, &o, h, found); err != nil {
					t.Fatal(err)
				}
				return all, found.Stats()
			}
			merged, few := search(s.effects())
			unmerged, many := search(nil)
			if got, want := slices.Sorted(maps.Keys(merged)), slices.Sorted(maps.Keys(unmerged)); !slices.Equal(got, want) {
				t.Errorf("queue %s\n%s\nmerged, runs end in %d ways, unmerged in %d:\n%q\n%q", queue, s.Text(), len(got), len(want), got, want)
			}
			if few.States > many.States || test.delays < 0 && (few.States == many.States || many.Cut != 0) {
				t.Errorf("queue %s: %+v merged, %+v unmerged", queue, few, many)
			}
			t.Logf("%s: %d endings; %d states in %d runs merged, %d in %d unmerged", queue, len(merged), few.States, few.Runs+few.Cut, many.States, many.Runs)
		}
	}
}

// A search that has not made all runs never says that it has finished.
func TestASearchSaysWhatItLacks(t *testing.T) {
	s, err := Parse("small", []byte("resource pods\ninformer i1 pods handlers=h1 queue=delta watch-list=off page=0 resync=0s\ncreate pods default/a"))
	if err != nil {
		t.Fatal(err)
	}
	run := func(ctx context.Context, b Bounds) (*Result, error) {
		return Run(ctx, s, Options{Subject: stack.Kind, Seed: 1, Strategy: Exhaustive, Bounds: b})
	}
	whole, err := run(context.Background(), DefaultBounds)
	if err != nil || !whole.Search.Finished || whole.Search.Longest >= DefaultBounds.Steps {
		t.Fatalf("%+v, %v", whole, err)
	}
	short := DefaultBounds
	short.Steps = whole.Search.Longest - 1
	if res, err := run(context.Background(), short); err != nil || res.Search.Finished {
		t.Errorf("with %d of %d steps: %+v, %v", short.Steps, whole.Search.Longest, res.Search, err)
	}
	few := DefaultBounds
	few.States = whole.Search.States - 1
	var unfinished *SearchError
	if _, err := run(context.Background(), few); !errors.As(err, &unfinished) || !errors.Is(err, sim.ErrTooManyStates) || unfinished.Search.States != few.States {
		t.Errorf("with %d of %d states: %v", few.States, whole.Search.States, err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := run(ctx, DefaultBounds); !errors.As(err, &unfinished) || !errors.Is(err, context.Canceled) {
		t.Errorf("canceled: %v", err)
	}
}

// BenchmarkExhaustive measures a search: its time per state, and per run, from the world's setup on.
func BenchmarkExhaustive(b *testing.B) {
	s, err := Parse("small", []byte("resource pods\ninformer i1 pods handlers=h1 queue=delta watch-list=off page=0 resync=0s\ncreate pods default/a default/b\ndelete pods default/a"))
	if err != nil {
		b.Fatal(err)
	}
	var states, runs int
	b.ReportAllocs()
	for b.Loop() {
		res, err := Run(context.Background(), s, Options{Subject: stack.Kind, Seed: 1, Strategy: Exhaustive})
		if err != nil || !res.Search.Finished {
			b.Fatal(err)
		}
		states, runs = states+res.Search.States, runs+res.Search.Runs+res.Search.Cut
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(states), "ns/state")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(runs), "ns/run")
}
