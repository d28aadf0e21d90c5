package differential_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/internal/garbage"
	"github.com/informersim/informersim/properties/differential"
	"github.com/informersim/informersim/properties/mutants"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo"
	"github.com/informersim/informersim/subjects/stack"
)

func generated(t testing.TB, seed uint64) *scenarios.Scenario {
	t.Helper()
	s, err := generate.Scenario(sim.NewStream(seed, "differential"), fmt.Sprintf("seed%d", seed), 25, "step", "write", "write-fault", "get")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// The stack and client-go behave alike.
func TestStackAndClientGoAgree(t *testing.T) {
	t.Cleanup(garbage.CollectSeldom())
	for seed := uint64(1); seed <= 100; seed++ {
		s := generated(t, seed)
		d, err := differential.Compare(t.Context(), s, stack.Kind, clientgo.Kind, seed)
		if err != nil {
			t.Fatal(err)
		}
		if d != nil {
			t.Fatalf("seed %d: %v\n%s", seed, d, s.Text())
		}
	}
}

// A handler that rests after a panic, and is removed, is called once more by client-go (I81), which is no difference.
func TestRemovedWhileItRests(t *testing.T) {
	s, err := scenarios.Parse("rests", []byte(`resource pods
informer i1 pods handlers=h1 queue=delta resync=0s
settle
handle h1 panics=1
create pods default/a
create pods default/b
settle
remove h1
advance 3s
log h1
`))
	if err != nil {
		t.Fatal(err)
	}
	if d, err := differential.Compare(t.Context(), s, stack.Kind, clientgo.Kind, 1); err != nil || d != nil {
		t.Errorf("%v %v", d, err)
	}
	res, err := scenarios.Run(t.Context(), s, scenarios.Options{Subject: clientgo.Kind, Seed: 1, Strategy: "fifo"})
	if err != nil {
		t.Fatal(err)
	}
	if log := fmt.Sprint(res.Outputs); !strings.Contains(log, "add default/b") {
		t.Errorf("client-go has not made the call that is to be allowed: %s", log)
	}
}

// A stack with a defect differs from one without, and the shrunk scenario is small and still shows the difference.
func TestDefectsAreFoundAndReduced(t *testing.T) {
	all := mutants.All()
	for _, name := range []string{"replace-without-tombstones", "replace-forgets-queue-only-keys", "newest-first", "wrong-old", "store-deletion-dropped"} {
		n := slices.IndexFunc(all, func(m mutants.Mutant) bool { return m.Name == name })
		if n < 0 {
			t.Fatalf("there is no mutant %s", name)
		}
		good, bad := mutants.Flawless(subjects.QueueDelta), all[n].Kind
		good.Name, bad.Name = "good", "bad"
		found := false
		for seed := uint64(1); seed <= 1000 && !found; seed++ {
			s := generated(t, seed)
			d, err := differential.Compare(t.Context(), s, good, bad, seed)
			if err != nil {
				t.Fatal(err)
			}
			if d == nil {
				continue
			}
			found = true
			small, sd := differential.Shrink(t.Context(), s, good, bad, seed, d)
			before, after := len(s.File().Commands()), len(small.File().Commands())
			if sd == nil || after > before/2 {
				t.Errorf("%s: shrunk from %d commands to %d only:\n%s", name, before, after, small.Text())
			}
			if again, err := differential.Compare(t.Context(), small, good, bad, seed); err != nil || again == nil || again.String() != sd.String() {
				t.Errorf("%s: the shrunk scenario does not show the difference: %v %v", name, again, err)
			}
			if text := sd.String(); !strings.Contains(text, "good") || !strings.Contains(text, "bad") || !strings.Contains(text, sd.Topic) {
				t.Errorf("%s: the text does not name the sides and the topic:\n%s", name, text)
			}
		}
		if !found {
			t.Errorf("%s: no difference in 1000 scenarios", name)
		}
	}
}

// No rule allows more than its reason covers.
func TestAllowed(t *testing.T) {
	for _, test := range []struct {
		topic       string
		left, right []string
		rule        string // "" for none
	}{
		{"requests of i1", []string{`0s watch rv="1" timeout=300`}, []string{`0s watch rv="1" timeout=301`}, ""},
		{"requests of i1", []string{`0s watch rv="1" timeout=300`}, []string{`0s watch rv="2" timeout=300`}, ""},
		{"requests of i1", []string{`0s list rv="0"`}, nil, ""},
		{"handler i1/h1 about default/a", []string{"add default/a rv=1 initial"}, []string{"add default/a rv=1"}, ""},
		{"work of c1 about default/a", []string{"3s ready", "3s begins rv=1", "7s default/a rv=1 ok"}, []string{"3s ready", "7s begins rv=1", "11s default/a rv=1 ok"}, ""},
		{"work of c1 about default/a", []string{"3s begins rv=1", "4s default/a rv=1 ok"}, []string{"3s begins rv=1", "4s default/a rv=1 failed"}, ""},
		{"handler i1/h1 about default/a", []string{"add default/a rv=1 initial", "delete default/a rv=2", "add default/a rv=3 initial"},
			[]string{"add default/a rv=1 initial", "delete default/a rv=2", "add default/a rv=3"}, "initial"},
		{"handler i1/h1 about default/a", []string{"add default/a rv=1"}, []string{"add default/a rv=1", "update default/a rv=2 old=1, taken before the removal"}, "removed"},
		{"handler i1/h1 about default/a", []string{"add default/a rv=1"}, []string{"add default/a rv=1", "update default/a rv=2 old=1"}, ""},
		{"handler i1/h1 about default/a", []string{"add default/a rv=1"}, []string{"add default/a rv=2", "update default/a rv=3 old=2, taken before the removal"}, ""},
		{"Indexer of i1", []string{"default/a rv=1"}, []string{"default/a rv=2"}, ""},
	} {
		got := ""
		for _, r := range differential.Allowed {
			if r.Reason == "" {
				t.Errorf("rule %s has no reason", r.Name)
			}
			if r.Applies(test.topic, test.left, test.right) {
				got = r.Name
			}
		}
		if got != test.rule {
			t.Errorf("%s: %q and %q are allowed by rule %q, want %q", test.topic, test.left, test.right, got, test.rule)
		}
	}
}
