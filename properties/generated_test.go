package properties_test

import (
	"context"
	"flag"
	"fmt"
	"testing"

	"pgregory.net/rapid"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/internal/garbage"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

var (
	generated = flag.Uint64("generated", 150, "number of scenarios of TestGeneratedScenarios; more find more")
	first     = flag.Uint64("generated-from", 1, "seed of the first one")
)

// drawn takes decisions from rapid, which can then shrink a failing scenario.
type drawn struct{ t *rapid.T }

func (d drawn) IntN(n int) int { return rapid.IntRange(0, n-1).Draw(d.t, "n") }

// fed takes decisions from a fuzzer's bytes; once they are used up, every decision is the first choice.
type fed struct{ data []byte }

func (f *fed) IntN(n int) int {
	if len(f.data) == 0 {
		return 0
	}
	b := int(f.data[0])
	f.data = f.data[1:]
	return b % n
}

// checked runs a scenario with all properties.
func checked(t testing.TB, s *scenarios.Scenario, subject subjects.Kind, seed uint64, strategy, mix string) *scenarios.Result {
	t.Helper()
	res, err := run(s, subject, seed, strategy, mix)
	if err != nil {
		t.Fatalf("%v\nseed %d, strategy %s, mix %s\n%s", err, seed, strategy, mix, s.Text())
	}
	return res
}

func run(s *scenarios.Scenario, subject subjects.Kind, seed uint64, strategy, mix string) (*scenarios.Result, error) {
	o, err := options(subject, seed, strategy, mix)
	if err != nil {
		return nil, err
	}
	return scenarios.Run(context.Background(), s, o)
}

func options(subject subjects.Kind, seed uint64, strategy, mix string) (scenarios.Options, error) {
	o := scenarios.Options{Subject: subject, Seed: seed, Strategy: strategy, Properties: properties.All(), MaxSteps: 2_000_000}
	if mix != "" {
		m, err := fault.MixNamed(mix)
		if err != nil {
			return o, err
		}
		o.Mix = &m
	}
	return o, nil
}

// explain describes the failure of a generated scenario: what broke, and how to reproduce it.
func explain(s *scenarios.Scenario, res *scenarios.Result) string {
	line := fmt.Sprintf("informersim run FILE --seed %d --strategy %s", res.Seed, res.Strategy)
	if res.Mix != "" {
		line += " --fault-mix " + res.Mix
	}
	return fmt.Sprintf("%v\nsave this as FILE and run: %s\n%s", res.Violation, line, s.Text())
}

// The properties hold for generated scenarios, in the order of the script and in any other, with and without faults.
func TestGeneratedScenarios(t *testing.T) {
	t.Cleanup(garbage.CollectSeldom())
	for n := range *generated {
		seed := *first + n
		src := sim.NewStream(seed, "generator")
		s, err := generate.Scenario(src, fmt.Sprintf("generated-%d", seed), 10+src.IntN(60))
		if err != nil {
			t.Fatal(err)
		}
		for _, how := range []struct{ strategy, mix string }{{"fifo", ""}, {"random", ""}, {"random", "default"}, {"random", "storm"}, {"random", "edges"}} {
			if res := checked(t, s, stack.Kind, seed, how.strategy, how.mix); res.Violation != nil {
				t.Fatal(explain(s, res))
			}
		}
	}
}

// The same as a state machine, which rapid can shrink.
func TestScenarioStateMachine(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := generate.New(drawn{t}, "machine")
		actions := map[string]func(*rapid.T){}
		for _, a := range g.Actions() {
			actions[a.Name] = func(t *rapid.T) {
				if !a.Do() {
					t.Skip("not now")
				}
			}
		}
		t.Repeat(actions)
		s, err := g.Scenario()
		if err != nil {
			t.Fatal(err)
		}
		seed := rapid.Uint64Range(1, 1000).Draw(t, "seed")
		mix := rapid.SampledFrom([]string{"", "light", "default", "storm", "edges"}).Draw(t, "mix")
		res, err := run(s, stack.Kind, seed, "random", mix)
		if err != nil {
			t.Fatalf("%v\n%s", err, s.Text())
		}
		if res.Violation != nil {
			t.Fatal(explain(s, res))
		}
	})
}

// fuzzedMixes are the mixes of FuzzScenario.
var fuzzedMixes = []string{"", "light", "default", "storm", "edges"}

// The limits of FuzzScenario. A fuzzer lives on the number of its runs, and combines short ones by itself.
const (
	maxFuzzed         = 400 // bytes
	bytesPerCommand   = 6
	maxFuzzedCommands = 30
)

// The same again, driven by a fuzzer. It says what it finds interesting in hundreds of kilobytes each, and minimizes that for a
// minute; without, it makes many more runs:
//
//	GOGC=800 go test ./properties -run '^$' -fuzz FuzzScenario -fuzzminimizetime 0
func FuzzScenario(f *testing.F) {
	for seed := range uint64(8) {
		f.Add(fuzzedBytes(seed), seed+1, byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte, seed uint64, mix byte) {
		if len(data) > maxFuzzed {
			t.Skip("longer scenarios find no more")
		}
		fuzzed(t, data, seed, mix)
	})
}

// fuzzedBytes are what FuzzScenario begins with.
func fuzzedBytes(seed uint64) []byte {
	s := sim.NewStream(seed, "fuzz")
	data := make([]byte, 20+s.IntN(maxFuzzed/4))
	for i := range data {
		data[i] = byte(s.IntN(256))
	}
	return data
}

// fuzzed makes one run of FuzzScenario.
func fuzzed(t testing.TB, data []byte, seed uint64, mix byte) *scenarios.Result {
	s, err := generate.Scenario(&fed{data}, "fuzzed", min(len(data)/bytesPerCommand, maxFuzzedCommands))
	if err != nil {
		t.Fatal(err)
	}
	res := checked(t, s, stack.Kind, seed, "random", fuzzedMixes[int(mix)%len(fuzzedMixes)])
	if res.Violation != nil {
		t.Fatal(explain(s, res))
	}
	return res
}
