package mutation

import "github.com/informersim/informersim/scenarios/minimal"

// An Answer is a line of a driver's output: one before each run, and one at the end.
type Answer struct {
	// Seed is that of the run that begins, or of the one that the rest is about.
	Seed uint64 `json:"seed"`
	// Found is what broke; nil if nothing did. It ends the search.
	Found *Found `json:"found,omitempty"`
	// Error says why there is no verdict.
	Error string `json:"error,omitempty"`
	// Done says that all runs have passed.
	Done bool `json:"done,omitempty"`
}

// Found is a run that broke a property.
type Found struct {
	Seed     uint64  `json:"seed"`
	Property string  `json:"property"`
	Message  string  `json:"message"`
	Seconds  float64 `json:"seconds"` // since the search began
	Shrunk   *Shrunk `json:"shrunk,omitempty"`
}

// Shrunk is the size of the smallest run that breaks the same property for the same reason.
type Shrunk struct {
	Before minimal.Size `json:"before"`
	After  minimal.Size `json:"after"`
	// Picks are those of the schedule that the smallest run needs; 0 if it is a transcript.
	Picks  int    `json:"picks"`
	Script string `json:"script"`
	Error  string `json:"error,omitempty"`
}
