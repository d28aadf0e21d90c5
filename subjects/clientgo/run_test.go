package clientgo_test

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects/clientgo"
)

// options returns the options of a run on client-go with every property.
func options(t testing.TB, seed uint64, strategy, mix string) scenarios.Options {
	t.Helper()
	o := scenarios.Options{
		Subject: clientgo.Kind, Seed: seed, Strategy: strategy, Properties: properties.All(),
	}
	if mix != "" {
		m, err := fault.MixNamed(mix)
		if err != nil {
			t.Fatal(err)
		}
		o.Mix = &m
	}
	return o
}

func parse(t testing.TB, script string) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse("test.sim", []byte(script))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func run(t testing.TB, s *scenarios.Scenario, o scenarios.Options) *scenarios.Result {
	t.Helper()
	res, err := scenarios.Run(context.Background(), s, o)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// client-go reproduces every transcript of the catalogue.
func TestCatalogue(t *testing.T) {
	files, err := filepath.Glob("../../scenarios/testdata/*.sim")
	if err != nil || len(files) == 0 {
		t.Fatalf("%d scenarios: %v", len(files), err)
	}
	for _, path := range files {
		t.Run(filepath.Base(path), func(t *testing.T) {
			s, err := scenarios.Load(path)
			if err != nil {
				t.Fatal(err)
			}
			res := run(t, s, options(t, 1, "fifo", ""))
			for _, m := range res.Mismatches {
				t.Errorf("%v: %s\nexpected\n%sclient-go\n%s", m.At, m.Message, m.Expected, m.Actual)
			}
			if !res.Passed() {
				t.Errorf("verdict %s: %v", res.Verdict(), res.Violation)
			}
		})
	}
}

// mapOrder is a scenario in which client-go iterates over every map whose order matters: tombstones of a relist, resyncs, a late
// handler's replay, a streaming list.
const mapOrder = `
cluster replicas=2
resource pods
create pods default/a default/b default/c default/d default/e default/f default/g default/h default/i default/j default/k default/l
informer i1 pods handlers=h1,h2 resync=5s queue=%[1]s watch-list=%[2]s
settle
hold h1
update pods default/b
delete pods default/c default/d
hold i1
update pods default/e
fault i1 watch=410
delete pods default/a default/b default/f default/g
create pods default/c default/m
advance 3s
create pods default/f
advance 3s
release i1
step 3
handler i1 h3
settle
release h1
fault i1 watch=reset
compact
delete pods default/h default/i
advance 30s
handler i1 h4 resync=7s
remove h2
advance 30s
`

// The order of Go's maps, which differs from run to run, affects neither choices nor records.
func TestMapOrderDoesNotShow(t *testing.T) {
	for _, queue := range []string{"delta", "inorder", "atomic"} {
		for _, watchList := range []string{"on", "off"} {
			for _, strategy := range []string{"fifo", "random"} {
				t.Run(fmt.Sprintf("%s %s %s", queue, watchList, strategy), func(t *testing.T) {
					s := parse(t, fmt.Sprintf(mapOrder, queue, watchList))
					var first *scenarios.Result
					for n := range 25 {
						res := run(t, s, options(t, 3, strategy, ""))
						if !res.Passed() {
							t.Fatalf("verdict %s: %v", res.Verdict(), res.Violation)
						}
						if n == 0 {
							first = res
						} else if res.Hash != first.Hash {
							t.Fatalf("run %d has hash %016x after %d steps, the first %016x after %d", n+1, res.Hash, res.Steps, first.Hash, first.Steps)
						}
					}
				})
			}
		}
	}
}

// Exploration under faults breaks no property with any queue, and every run can be replayed.
func TestPropertiesHoldAndRunsReplay(t *testing.T) {
	for _, queue := range []string{"delta", "inorder", "atomic"} {
		for _, watchList := range []string{"on", "off"} {
			s := parse(t, fmt.Sprintf(mapOrder, queue, watchList))
			for seed := uint64(1); seed <= 15; seed++ {
				o := options(t, seed, "", "storm")
				var trace bytes.Buffer
				o.Trace = &trace
				res := run(t, s, o)
				if !res.Passed() {
					t.Fatalf("queue %s, watch-list %s, seed %d: %v", queue, watchList, seed, res.Violation)
				}
				r, err := sim.NewTraceReader("trace", &trace)
				if err != nil {
					t.Fatal(err)
				}
				if h := r.Header(); h.Subject != clientgo.Kind.Name || h.Engine != clientgo.Kind.Engine {
					t.Fatalf("the trace is of subject %q, engine %q", h.Subject, h.Engine)
				}
				again, err := scenarios.Replay(context.Background(), r, options(t, 0, "", ""))
				if err != nil {
					t.Fatalf("queue %s, watch-list %s, seed %d: %v", queue, watchList, seed, err)
				}
				if again.Hash != res.Hash {
					t.Fatalf("the replay has hash %016x, the run had %016x", again.Hash, res.Hash)
				}
			}
		}
	}
}

// While parts are held, nothing is popped and no handler is called; afterwards everything comes in order.
func TestHolds(t *testing.T) {
	for _, queue := range []string{"delta", "inorder", "atomic"} {
		res := run(t, parse(t, `
resource pods
create pods default/a
informer i1 pods handlers=h1,h2 queue=`+queue+`
settle
log h1
----
h1 add default/a rv=1 initial

hold i1
update pods default/a
create pods default/b
settle
expect i1 diverged count=1
log h1
----

release i1
hold h1
settle
expect i1 converged count=2
log h1
----

log h2
----
h2 add default/a rv=1 initial
h2 update default/a rv=2 old=1
h2 add default/b rv=3

delete pods default/b
settle
release h1
settle
log h1
----
h1 update default/a rv=2 old=1
h1 add default/b rv=3
h1 delete default/b rv=4
`), options(t, 1, "fifo", ""))
		if !res.Passed() {
			t.Errorf("queue %s: %v %+v", queue, res.Violation, res.Mismatches)
		}
	}
}

// When a registration sees that a DeltaFIFO is synced is a race in client-go: a key of the first list that was deleted and
// recreated while the queue was held reaches the handler as two additions, and the registration may turn synced between them. In a
// run it turns synced at the same point every time.
func TestSyncedOfDeltaFIFORepeats(t *testing.T) {
	s := parse(t, "resource pods\ncreate pods default/a\ninformer i1 pods handlers=h1 queue=delta\nhold i1\nsettle\n"+
		"delete pods default/a\ncreate pods default/a\nupdate pods default/a\nsettle\nrelease i1\nsettle\n")
	var hash uint64
	for n := range 200 {
		res := run(t, s, options(t, 1, "fifo", ""))
		if n == 0 {
			hash = res.Hash
		}
		if res.Hash != hash {
			t.Fatalf("run %d has hash %016x, the first %016x", n+1, res.Hash, hash)
		}
	}
}

// Generated scenarios break no property either, and are deterministic.
func TestGeneratedScenarios(t *testing.T) {
	for seed := uint64(1); seed <= generated; seed++ {
		s, err := generate.Scenario(sim.NewStream(seed, "clientgo"), fmt.Sprintf("seed%d", seed), 30)
		if err != nil {
			t.Fatal(err)
		}
		strategy, mix := "random", "default"
		if seed%3 == 0 {
			strategy, mix = "fifo", ""
		}
		var hash uint64
		for n := range 3 {
			res := run(t, s, options(t, seed, strategy, mix))
			if res.Violation != nil {
				t.Fatalf("seed %d, strategy %s: %v\n%s", seed, strategy, res.Violation, s.Text())
			}
			if n > 0 && res.Hash != hash {
				t.Fatalf("seed %d, strategy %s: run %d has hash %016x, the first %016x\n%s", seed, strategy, n+1, res.Hash, hash, s.Text())
			}
			hash = res.Hash
		}
	}
}

// generated is the number of generated scenarios.
const generated = 60
