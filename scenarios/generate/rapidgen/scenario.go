package rapidgen

import (
	"pgregory.net/rapid"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate"
)

// The length of a scenario, in commands after its beginning.
const (
	leastCommands = 1
	mostCommands  = 40
)

// Scenario draws scenarios: a cluster, informers with their handlers and workers, writes, faults, holds and time, as informersim fuzz has
// them. Each is valid, and expects nothing: properties decide. Actions that are named, such as worker or write-fault, are left out.
func Scenario(without ...string) *rapid.Generator[*scenarios.Scenario] {
	return rapid.Custom(func(t *rapid.T) *scenarios.Scenario {
		commands := rapid.IntRange(leastCommands, mostCommands).Draw(t, "commands")
		s, err := generate.Scenario(source{t}, "drawn", commands, without...)
		if err != nil {
			t.Fatalf("informersim is wrong: the scenario that it drew is not valid: %v", err)
		}
		return s
	})
}

// source lets rapid make the decisions. Smaller numbers are simpler, and rapid shrinks towards them.
type source struct{ t *rapid.T }

// IntN implements generate.Source.
func (s source) IntN(n int) int { return rapid.IntRange(0, n-1).Draw(s.t, "n") }
