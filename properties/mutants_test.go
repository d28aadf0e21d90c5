package properties_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/internal/garbage"
	"github.com/informersim/informersim/internal/mutation"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

// Every mutant names a property that exists, and every property has a mutant.
func TestEveryPropertyHasAMutant(t *testing.T) {
	known := func(name string) bool {
		return slices.ContainsFunc(properties.All(), func(p properties.Property) bool { return p.Name == name })
	}
	names, bitten := map[string]bool{}, map[string]bool{}
	texts, err := mutation.Load(os.DirFS("mutants"))
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range texts {
		bitten[m.Breaks[0]] = bitten[m.Breaks[0]] || m.Survives == ""
	}
	for _, m := range mutants.All() {
		if names[m.Name] {
			t.Errorf("two mutants are named %s", m.Name)
		}
		names[m.Name], bitten[m.Property] = true, true
		if !known(m.Property) {
			t.Errorf("%s: there is no property %q", m.Name, m.Property)
		}
		if (m.Or == "") != (m.OrBecause == "") {
			t.Errorf("%s: a second property and its reason go together; have %q, because %q", m.Name, m.Or, m.OrBecause)
		}
		if m.Or == "" {
			continue
		}
		for _, or := range strings.Split(m.Or, ", ") {
			if !known(or) || or == m.Property {
				t.Errorf("%s: %q cannot be another property", m.Name, or)
			}
		}
	}
	for _, p := range properties.All() {
		if !bitten[p.Name] {
			t.Errorf("no mutant breaks %s, so nothing shows that it can fail", p.Name)
		}
	}
}

// attempt is one run that may find something.
type attempt struct {
	scenario *scenarios.Scenario
	seed     uint64
	strategy string
	mix      string
}

func (a attempt) String() string {
	return fmt.Sprintf("%s, seed %d, strategy %s, mix %s", a.scenario.Name, a.seed, a.strategy, a.mix)
}

// attempts returns the runs of a search, always the same: the built-in scenario and generated ones, under random schedules. They are made as far as a
// search gets, and kept for the next one.
func attempts(t *testing.T) iter.Seq[attempt] {
	t.Helper()
	var made []*scenarios.Scenario
	return func(yield func(attempt) bool) {
		for seed := uint64(1); seed <= 1500; seed++ {
			if !yield(attempt{scenarios.BuiltIn(), seed, "random", "default"}) {
				return
			}
			if uint64(len(made)) < seed {
				made = append(made, scenarioOf(t, seed))
			}
			s := made[seed-1]
			if !yield(attempt{s, seed, "random", "none"}) || !yield(attempt{s, seed, "random", "default"}) {
				return
			}
		}
	}
}

// scenarioOf returns the generated scenario of a seed.
func scenarioOf(t *testing.T, seed uint64) *scenarios.Scenario {
	t.Helper()
	s, err := generate.Swarm(sim.NewStream(seed, "generator"), fmt.Sprintf("generated-%d", seed), 40)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// withQueue returns the scenario with that queue for all informers.
func withQueue(t *testing.T, s *scenarios.Scenario, kind subjects.Queue) *scenarios.Scenario {
	t.Helper()
	s, err := scenarios.Parse(s.Name, []byte(mutants.WithQueue(s.Text(), kind)))
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// Each defect is found within a bounded number of runs, by the property that it breaks, and the run replays step by step to the
// same end.
func TestMutantsAreFound(t *testing.T) {
	t.Cleanup(garbage.CollectSeldom())
	search := attempts(t)
	for _, m := range mutants.All() {
		t.Run(m.Name, func(t *testing.T) {
			a, tries, res := find(t, m, search)
			t.Logf("found after %d runs (%s): %s at step %d: %s", tries, a, res.Violation.Property, res.Violation.Step, res.Violation.Message)
			replayed(t, m, a, res)
		})
	}
}

func find(t *testing.T, m mutants.Mutant, search iter.Seq[attempt]) (attempt, int, *scenarios.Result) {
	t.Helper()
	if m.Explore {
		s, err := scenarios.Load("../scenarios/testdata/" + m.Scenario + ".sim")
		if err != nil {
			t.Fatal(err)
		}
		var seeds []attempt
		for seed := uint64(1); seed <= 50; seed++ {
			seeds = append(seeds, attempt{s, seed, "random", "default"})
		}
		search = slices.Values(seeds)
	}
	tries := 0
	for a := range search {
		tries++
		res := checked(t, a.scenario, m.Kind, a.seed, a.strategy, a.mix)
		v := res.Violation
		switch {
		case v == nil:
		case v.Property == m.Property:
			if v.Step == 0 || v.Message == "" || len(v.Because) == 0 && m.Property != "IndexerConverges" {
				t.Errorf("the violation is incomplete: %+v", v)
			}
			return a, tries, res
		case !slices.Contains(strings.Split(m.Or, ", "), v.Property):
			t.Fatalf("%s: it breaks another property: %v", a, v)
		}
	}
	t.Fatalf("%d runs did not find that %s", tries, m.Defect)
	return attempt{}, 0, nil
}

// gap is the scenario of the README: it names no queue.
const gap = `resource pods
create pods default/a
informer i1 pods handlers=h1
settle
hold i1
create pods default/b
settle
fault i1 watch=410
delete pods default/b
advance 5s
release i1
settle
expect i1 converged
`

// A defect that only one kind of queue has is found by exploring a scenario that names no queue: the seeds go over all kinds. A
// scenario that pins another queue cannot find it (k115658).
func TestExplorationGoesOverQueues(t *testing.T) {
	const within = 36
	for _, name := range []string{"replace-forgets-queue-only-keys", "inorder-replace-forgets-queue-only-keys", "atomic-replace-keeps-missing"} {
		all := mutants.All()
		m := all[slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Name == name })]
		explored := func(s *scenarios.Scenario) (found uint64) {
			for seed := uint64(1); seed <= within; seed++ {
				res := checked(t, s, m.Kind, seed, "random", "")
				if res.Violation == nil {
					continue
				}
				if res.Violation.Property != m.Property || res.Informers[0].Queue != string(m.Queue) {
					t.Errorf("%s, seed %d, %v: %v", name, seed, res.Informers[0], res.Violation)
				}
				return seed
			}
			return 0
		}
		s, err := scenarios.Parse("gap.sim", []byte(gap))
		if err != nil {
			t.Fatal(err)
		}
		if seed := explored(s); seed == 0 {
			t.Errorf("%s is not found within %d seeds", name, within)
		} else {
			t.Logf("%s is found at seed %d", name, seed)
		}
		for _, other := range stack.Kind.Queues {
			if other != m.Queue && explored(withQueue(t, s, other)) != 0 {
				t.Errorf("%s is found with the queue %s", name, other)
			}
		}
	}
}

// replayed replays the run from its trace: the mutant repeats it, the stack without the defect diverges.
func replayed(t *testing.T, m mutants.Mutant, a attempt, found *scenarios.Result) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "found.trace.jsonl")
	var trace bytes.Buffer
	o, err := options(m.Kind, a.seed, a.strategy, a.mix)
	if err != nil {
		t.Fatal(err)
	}
	o.Trace = &trace
	if _, err := scenarios.Run(context.Background(), a.scenario, o); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(path, trace.Bytes(), 0o666); err != nil {
		t.Fatal(err)
	}
	again, err := replay(path, m.Kind)
	if err != nil {
		t.Fatalf("the replay: %v", err)
	}
	if again.Violation == nil || again.Violation.Error() != found.Violation.Error() || again.Hash != found.Hash {
		t.Errorf("the replay finds\n%v\nthe run found\n%v", again.Violation, found.Violation)
	}
	var diverged *sim.DivergedError
	if _, err := replay(path, stack.Kind); !errors.As(err, &diverged) {
		t.Errorf("replayed without the defect, the run ends with %v, want it to diverge", err)
	}
	followed(t, path, a, diverged)
}

// followed follows the trace without the defect: after the difference, it is the run of the seed, unless the choices differed before
// the records did.
func followed(t *testing.T, path string, a attempt, diverged *sim.DivergedError) {
	t.Helper()
	o, err := options(stack.Kind, a.seed, a.strategy, a.mix)
	if err != nil {
		t.Fatal(err)
	}
	fixed, err := scenarios.Run(context.Background(), a.scenario, o)
	if err != nil {
		t.Fatal(err)
	}
	in, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer in.Close()
	r, err := sim.NewTraceReader(path, in)
	if err != nil {
		t.Fatal(err)
	}
	f, err := scenarios.Follow(context.Background(), r, o)
	if err != nil {
		t.Fatalf("followed: %v", err)
	}
	switch {
	case f.Diverged == nil || f.Diverged.Step != diverged.Step || f.Diverged.Why != diverged.Why:
		t.Errorf("followed, it diverges with %v, replayed with %v", f.Diverged, diverged)
	case f.Strayed != 0 && f.Strayed <= f.Diverged.Step:
		t.Logf("what could happen differs from step %d, and records from step %d", f.Strayed, f.Diverged.Step)
	case f.Hash != fixed.Hash || f.Steps != fixed.Steps || f.Verdict() != fixed.Verdict() || f.Virtual != fixed.Virtual:
		t.Errorf("followed from %v, it ends with %s after %d steps and %v (hash %016x), the run of the seed with %s after %d and %v (%016x)",
			f.Diverged, f.Verdict(), f.Steps, f.Virtual, f.Hash, fixed.Verdict(), fixed.Steps, fixed.Virtual, fixed.Hash)
	case f.End == nil || f.End.Verdict == "pass" || f.Cut != nil || f.Early:
		t.Errorf("the trace ends with %+v, %v, %v", f.End, f.Cut, f.Early)
	}
}

func replay(path string, subject subjects.Kind) (*scenarios.Result, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	r, err := sim.NewTraceReader(path, in)
	if err != nil {
		return nil, err
	}
	o, err := options(subject, 0, "", "")
	if err != nil {
		return nil, err
	}
	return scenarios.Replay(context.Background(), r, o)
}

// A transcript of the catalogue shows each defect without a search.
func TestMutantsInTheCatalogue(t *testing.T) {
	for _, m := range mutants.All() {
		t.Run(m.Name, func(t *testing.T) {
			s, err := scenarios.Load("../scenarios/testdata/" + m.Scenario + ".sim")
			if err != nil {
				t.Fatal(err)
			}
			res := checked(t, withQueue(t, s, m.Queue), m.Kind, 1, "fifo", "")
			if v := res.Violation; v == nil || v.Property != m.Property && !slices.Contains(strings.Split(m.Or, ", "), v.Property) {
				t.Fatalf("%s shows %v, not %s", m.Scenario, v, m.Property)
			}
			t.Logf("%s: %s at step %d: %s", m.Scenario, res.Violation.Property, res.Violation.Step, res.Violation.Message)
			if good := checked(t, s, stack.Kind, 1, "fifo", ""); !good.Passed() {
				t.Errorf("the stack without the defect: %s", good.Verdict())
			}
		})
	}
}

// The control: the mutants' queues without a defect do step by step what the stack's own do, and all properties hold.
func TestFlawlessMutant(t *testing.T) {
	t.Cleanup(garbage.CollectSeldom())
	for _, kind := range []subjects.Queue{subjects.QueueDelta, subjects.QueueInOrder, subjects.QueueAtomic} {
		t.Run(string(kind), func(t *testing.T) { flawless(t, kind, mutants.Flawless(kind)) })
	}
	t.Run("work", func(t *testing.T) { flawless(t, subjects.QueueAtomic, mutants.FlawlessWork()) })
}

func flawless(t *testing.T, kind subjects.Queue, subject subjects.Kind) {
	for seed := uint64(1); seed <= 40; seed++ {
		for _, mix := range []string{"default", "storm"} {
			for _, s := range []*scenarios.Scenario{withQueue(t, scenarios.BuiltIn(), kind), withQueue(t, scenarioOf(t, seed), kind)} {
				own, other := checked(t, s, stack.Kind, seed, "random", mix), checked(t, s, subject, seed, "random", mix)
				for _, res := range []*scenarios.Result{own, other} {
					if res.Violation != nil {
						t.Fatal(explain(s, res))
					}
				}
				if own.Hash != other.Hash {
					t.Fatalf("%s, seed %d, mix %s: the runs differ\n%s", s.Name, seed, mix, s.Text())
				}
			}
		}
	}
}

// The report of a violation names the property, the step, and how to reproduce it.
func TestFindingText(t *testing.T) {
	m := mutants.All()[0]
	s, err := scenarios.Load("../scenarios/testdata/" + m.Scenario + ".sim")
	if err != nil {
		t.Fatal(err)
	}
	res := checked(t, withQueue(t, s, m.Queue), m.Kind, 1, "fifo", "")
	var b strings.Builder
	if err := reports.WriteText(&b, reports.Report{Run: &res.Run, Replay: []string{"informersim replay x.trace.jsonl"}}); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		fmt.Sprintf("FAIL  %s at step %d ", m.Property, res.Violation.Step), res.Violation.Message, "because step ", "see it again\n    informersim replay x.trace.jsonl",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}
