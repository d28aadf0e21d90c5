package scenarios

import (
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim"
)

// Result is what a run came to.
type Result struct {
	Scenario string
	Subject  string
	Engine   string
	Strategy string
	Seed     uint64
	Mix      string

	Steps   uint64
	Virtual time.Duration // virtual time covered
	Hash    uint64        // the chained hash of the whole run

	Commits       int // writes that the Store committed
	Requests      int // requests that clients sent
	Frames        int // watch frames delivered
	Notifications int // calls of handlers
	Reconciles    int // that workers have ended
	Faults        []FaultCount

	Properties []string
	// Violation is the broken property, nil if all held. A scenario that expects one passes with it.
	Violation *Violation
	// Expected is the property that the scenario says it breaks, "" for none; several, with commas, if it may be any of them.
	Expected string
	// Transcript says that the commands ran back to back; if not, schedules were explored (see the package's comment).
	Transcript bool
	// Mismatches are expectations of the transcript that were not met.
	Mismatches []Mismatch
	// Outputs are what commands with an output printed.
	Outputs map[*script.Command]string
}

// FaultCount is how often a fault was injected.
type FaultCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Mismatch is an expectation of the transcript that was not met.
type Mismatch struct {
	Pos      script.Pos
	Message  string // what was expected and seen, if it is not an output
	Expected string // expected and actual output, if it is one
	Actual   string
}

// Passed tells whether all properties held (or just the one broke that the scenario expects to) and every expectation of
// the transcript was met. A schedule other than the transcript's need not show the bug that the scenario is about.
func (r *Result) Passed() bool {
	if len(r.Mismatches) > 0 {
		return false
	}
	if r.Violation != nil {
		return slices.Contains(strings.Split(r.Expected, ","), r.Violation.Property)
	}
	return r.Expected == "" || !r.Transcript
}

// Verdict is the word that a trace ends with: pass, or what broke; "held" if a property should have broken and did not.
func (r *Result) Verdict() string {
	switch {
	case r.Violation == nil && r.Expected != "" && r.Transcript:
		return "held"
	case r.Violation != nil:
		return r.Violation.Property
	case len(r.Mismatches) > 0:
		return "mismatch"
	}
	return "pass"
}

// FaultTotal is the number of faults injected.
func (r *Result) FaultTotal() int {
	n := 0
	for _, f := range r.Faults {
		n += f.Count
	}
	return n
}

var _ sim.Observer = (*checks)(nil)
