package scenarios_test

import (
	"bytes"
	"context"
	"testing"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/kinds"
)

// between counts the steps from an informer's stop to its next life.
type between struct {
	stopped   uint64
	restarted uint64
}

func (b *between) Record(r *sim.Record) {
	switch r.Kind {
	case subjects.KindStopped:
		b.stopped = r.Step
	case subjects.KindRestarted:
		b.restarted = r.Step
	}
}

func (*between) StepEnd(*sim.StepInfo) {}

// A restart is a stop and a start: in a transcript one follows the other, in an exploration anything may come between, on both subjects. The trace of
// a run with two lives replays.
func TestRestartIsTwoChoices(t *testing.T) {
	s := mustParse(t, `resource pods
create pods default/a default/b
informer i1 pods handlers=h1
worker c1 i1
create pods default/c
restart i1
delete pods default/a
advance 5s
`)
	for _, kind := range kinds.All() {
		far := 0
		for seed := uint64(0); seed <= 40; seed++ {
			var b between
			var trace bytes.Buffer
			o := withProperties(seed)
			o.Subject, o.Trace = kind, &trace
			if seed > 0 {
				o.Strategy = "random"
			}
			o.Observe = func(*scenarios.World) []sim.Observer { return []sim.Observer{&b} }
			res, err := scenarios.Run(context.Background(), s, o)
			if err != nil {
				t.Fatal(err)
			}
			if !res.Passed() {
				t.Fatalf("%s", textOf(res, kind.Name))
			}
			switch {
			case b.restarted <= b.stopped:
				t.Fatalf("%s, seed %d: stopped at step %d, started again at step %d", kind.Name, seed, b.stopped, b.restarted)
			case seed == 0 && b.restarted != b.stopped+1:
				t.Errorf("%s: in a transcript, %d steps come between the stop and the start", kind.Name, b.restarted-b.stopped-1)
			case b.restarted > b.stopped+1:
				far++
			}
			if seed > 3 {
				continue
			}
			o.Observe, o.Trace = nil, nil
			r, err := sim.NewTraceReader("trace", &trace)
			if err != nil {
				t.Fatal(err)
			}
			if again, err := scenarios.Replay(context.Background(), r, o); err != nil || again.Hash != res.Hash {
				t.Errorf("%s, seed %d: the replay: %v", kind.Name, seed, err)
			}
		}
		if far < 5 {
			t.Errorf("%s: something came between the stop and the start in %d of 40 seeds only", kind.Name, far)
		}
	}
}

// What a life inherits: handlers that were added late, not those that were removed; indexes; holds; what makes calls slow; workers, that had to
// wait for a sync that never came. Its connection has nothing of the first life's.
func TestWhatALifeInherits(t *testing.T) {
	s := mustParse(t, `resource pods
create pods default/a
informer i1 pods handlers=h1,h2
indexer i1 ns by=namespace
handler i1 late
worker c1 i1
remove h2
handle h1 takes=3s
hold late
hold i1
settle
reconciles c1
----

restart i1
settle
reconciles c1
----

release i1
settle
log h1
----
h1 add default/a rv=1 initial

log late
----

reconciles c1
----
c1/0 default/a rv=1 ok

expect c1 idle
create pods default/b
settle
log h1
----

advance 3s
release late
settle
log h1
----
h1 add default/b rv=2

log h2
----

log late
----
late add default/a rv=1 initial
late add default/b rv=2

expect i1 converged synced count=2
`)
	for _, kind := range kinds.All() {
		o := withProperties(1)
		o.Subject = kind
		o.Settled = func(w *scenarios.World, _ string) {
			inf := w.Informer("i1")
			if keys := inf.IndexKeys("ns", "default"); len(keys) != inf.Len() || len(inf.Indexes()) != 1 {
				t.Errorf("%s: of %d objects, the index has %q", kind.Name, inf.Len(), keys)
			}
			if n := w.Cluster().Client("i1").InFlight(); n > 1 {
				t.Errorf("%s: %d requests are in flight", kind.Name, n)
			}
		}
		res, err := scenarios.Run(context.Background(), s, o)
		if err != nil {
			t.Fatal(err)
		}
		if !res.Passed() {
			t.Errorf("%s", textOf(res, kind.Name))
		}
	}
}
