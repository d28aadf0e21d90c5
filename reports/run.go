package reports

import (
	"slices"
	"strings"
	"time"
)

// Run is a run in numbers and words: which one it was, what happened, and how it ended.
type Run struct {
	Scenario string // its name; of a Go test, the test's
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
	// APIOnly says that the run was observed at the API alone: calls of handlers and reconciles are not known.
	APIOnly bool
	// ShrunkFrom is the size of the failure that this run is a simpler form of, "" if it was not shrunk.
	ShrunkFrom string

	Properties []string
	// Violation is the broken property, nil if all held. A scenario that expects one passes with it.
	Violation *Violation
	// Failure says why the run failed although no property is broken, "" if it did not.
	Failure string
	// Expected is the property that the scenario says it breaks, "" for none; several, with commas, if it may be any of them.
	Expected string
	// Transcript says that the commands ran back to back; if not, schedules were explored.
	Transcript bool
	// Mismatches are expectations of the transcript that were not met.
	Mismatches []Mismatch
}

// FaultCount is how often a fault was injected.
type FaultCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Mismatch is an expectation of the transcript that was not met.
type Mismatch struct {
	At       string `json:"at"`                 // file:line:column
	Message  string `json:"message,omitempty"`  // what was expected and seen, if it is not an output
	Expected string `json:"expected,omitempty"` // expected and actual output, if it is one
	Actual   string `json:"actual,omitempty"`
}

// Passed tells whether all properties held (or just the one broke that the scenario expects to) and every expectation of
// the transcript was met. A schedule other than the transcript's need not show the bug that the scenario is about.
func (r *Run) Passed() bool {
	if len(r.Mismatches) > 0 || r.Failure != "" {
		return false
	}
	if r.Violation != nil {
		return slices.Contains(strings.Split(r.Expected, ","), r.Violation.Property)
	}
	return r.Expected == "" || !r.Transcript
}

// Verdict is the word that a trace ends with: pass, or what broke; "held" if a property should have broken and did not;
// "error" if the run failed in another way.
func (r *Run) Verdict() string {
	switch {
	case r.Violation == nil && r.Expected != "" && r.Transcript:
		return "held"
	case r.Violation != nil:
		return r.Violation.Property
	case r.Failure != "":
		return "error"
	case len(r.Mismatches) > 0:
		return "mismatch"
	}
	return "pass"
}

// CountFault counts one more fault of a name. Faults stay sorted by name.
func (r *Run) CountFault(name string) { r.countFaults(name, 1) }

func (r *Run) countFaults(name string, count int) {
	n, found := slices.BinarySearchFunc(r.Faults, name, func(f FaultCount, name string) int { return strings.Compare(f.Name, name) })
	if !found {
		r.Faults = slices.Insert(r.Faults, n, FaultCount{Name: strings.Clone(name)})
	}
	r.Faults[n].Count += count
}

// FaultTotal is the number of faults injected.
func (r *Run) FaultTotal() int {
	n := 0
	for _, f := range r.Faults {
		n += f.Count
	}
	return n
}
