package scenarios

import (
	_ "embed" // for the built-in scenario
	"fmt"
)

//go:embed builtin.sim
var builtinScript []byte

// BuiltIn returns the scenario that `informersim run` plays by default: a first impression of what goes wrong between an apiserver
// and an informer, and of how a transcript reads.
func BuiltIn() *Scenario {
	s, err := Parse("builtin.sim", builtinScript)
	if err != nil {
		panic(fmt.Sprintf("scenarios: the built-in scenario: %v", err)) // a test parses it
	}
	return s
}
