package generate_test

import (
	"crypto/sha256"
	"fmt"
	"strings"
	"testing"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/sim"
)

func generated(t *testing.T, seed uint64, without ...string) *scenarios.Scenario {
	t.Helper()
	s, err := generate.Scenario(sim.NewStream(seed, "generator"), fmt.Sprintf("generated-%d", seed), 40, without...)
	if err != nil {
		t.Fatalf("seed %d: %v", seed, err)
	}
	return s
}

// A seed names a scenario. A change of what the generator draws changes every one of them, and with them the scenarios that
// issues and measurements cite by seed: make it deliberately, and record the new digest.
func TestSeedsNameScenarios(t *testing.T) {
	h := sha256.New()
	for seed := uint64(1); seed <= 200; seed++ {
		h.Write([]byte(generated(t, seed).Text()))
	}
	const want = "6c7cc5e9858c1cb5fbd3741126845c785c55688c3735e6397f584f7f8d6ae99f"
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != want {
		t.Errorf("the scenarios of the seeds 1 to 200 have the digest\n%s, want\n%s", got, want)
	}
}

// Every command of the generator is used, and none that is excluded.
func TestEveryActionIsUsed(t *testing.T) {
	all, without := strings.Builder{}, strings.Builder{}
	for seed := uint64(1); seed <= 50; seed++ {
		all.WriteString(generated(t, seed).Text())
		without.WriteString(generated(t, seed, "step", "write", "write-fault", "get").Text())
	}
	for _, command := range []string{
		"create ", "update ", "delete ", "writer ", "settle\n", "advance ", "step ", "fault ", "compact", "restart ", "hold ", "release ",
		"informer ", "handler ", "remove ", "worker ", "reconcile ", "handle ", "stop ", "indexer ", "restart i",
	} {
		if !strings.Contains(all.String(), "\n"+command) {
			t.Errorf("no scenario has the command %q", command)
		}
	}
	for _, command := range []string{"\nstep ", "\nwriter ", " get=block"} {
		if !strings.Contains(all.String(), command) || strings.Contains(without.String(), command) {
			t.Errorf("scenarios lack %q, or one has it although it was excluded", command)
		}
	}
}

// zeros decides for the first choice every time.
type zeros struct{}

func (zeros) IntN(int) int { return 0 }

// Every action can be tried at any time: one that cannot be done now says so and changes nothing.
func TestActionsThatCannotBeDone(t *testing.T) {
	g := generate.New(zeros{}, "zeros")
	for range 30 {
		for _, a := range g.Actions() {
			before := g.Text()
			if done := a.Do(); done != (g.Text() != before) {
				t.Fatalf("%s says %v, and the script was:\n%s\nit is:\n%s", a.Name, done, before, g.Text())
			}
		}
	}
	if _, err := g.Scenario(); err != nil {
		t.Error(err)
	}
}

// A seed names a run, too. Among a hundred there is every built-in mix, and both strategies; with a corpus, every scenario of it.
func TestSeedsNameRuns(t *testing.T) {
	h := sha256.New()
	seen := map[string]bool{}
	corpus := []*scenarios.Scenario{generated(t, 1), generated(t, 2), generated(t, 3)}
	for seed := uint64(1); seed <= 100; seed++ {
		for _, files := range [][]*scenarios.Scenario{nil, corpus} {
			r, err := generate.OfSeed(seed, files)
			if err != nil {
				t.Fatal(err)
			}
			mix := "no mix"
			if r.Mix != nil {
				mix = r.Mix.Name
			}
			if files == nil {
				seen[r.Strategy], seen[mix] = true, true
			} else {
				seen[r.Scenario.Name] = true
			}
			fmt.Fprintln(h, r.Strategy, mix, r.Scenario.Text())
		}
	}
	for _, want := range []string{"fifo", "random", "no mix", "light", "default", "storm", "edges", "generated-1", "generated-2", "generated-3"} {
		if !seen[want] {
			t.Errorf("no seed draws %s", want)
		}
	}
	const want = "e131feb1612ea14fb3fbe14c6ece0f15cfddf907ac59ef0f6eed2fc3598cb022"
	if got := fmt.Sprintf("%x", h.Sum(nil)); got != want {
		t.Errorf("the runs of the seeds 1 to 100 have the digest\n%s, want\n%s", got, want)
	}
}
