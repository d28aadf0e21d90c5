package reports

import (
	"slices"
	"strings"
	"time"
)

// A Run identifies a run, counts what happened, and says how it ended.
type Run struct {
	Scenario string // its name, or that of a Go test
	Subject  string
	Engine   string
	Strategy string
	Seed     uint64
	Mix      string
	// Informers are the configurations of its informers, in the order of the script; nil if they are not known.
	Informers []Configuration
	// Refused are the informers whose transforms fail for something, at the end of the run.
	Refused []Refused
	// Configuration names what else was chosen for the run; "" for nothing.
	Configuration string

	Steps   uint64
	Virtual time.Duration // virtual time covered
	// Converging is the part of Virtual after the faults stopped, at the end of the script or when a Go test says so.
	Converging time.Duration
	Hash       uint64 // the chained hash of the whole run

	Commits       int // writes that the Store committed
	Requests      int // requests that clients sent
	Frames        int // watch frames delivered
	Notifications int // handler calls
	Reconciles    int // that workers finished
	Faults        []FaultCount
	// Coverage is what the faults met; nil if nobody has counted.
	Coverage *Coverage
	// APIOnly reports that only the API was observed: handler calls are unknown, and reconciles unless the test tells of them.
	APIOnly bool
	// ShrunkFrom is the size of the original failure, "" if the run was not shrunk.
	ShrunkFrom string
	// Search is what the strategy exhaustive has made, of which this is one run; nil for other strategies.
	Search *Search

	Properties []string
	// Unjudged are the properties that the stack under test cannot be held to.
	Unjudged []Unjudged
	// Checked counts how often each property was checked; nil if that is not known.
	Checked []Checked
	// Statement is what the broken property says of every run, "" for none.
	Statement string
	// Violation is the broken property, nil if all held. A scenario that expects one passes with it.
	Violation *Violation
	// Mutated is the panic of client-go's mutation detector in another run of the seed, which has failed without it; "" if that has found nothing, or nobody has asked it.
	Mutated string
	// Failure explains a failure other than a broken property; "" for none.
	Failure string
	// Expected is the property that the scenario must break, "" for none. A comma-separated list means any one of them.
	Expected string
	// Transcript reports that the commands ran back to back; otherwise schedules were explored.
	Transcript bool
	// Unchecked counts what the script expects that an exploration does not compare: states and outputs.
	Unchecked int
	// Missed are the faults that a transcript orders, of a kind of which none has happened. They test nothing.
	Missed []Missed
	// Mismatches are the transcript's unmet expectations.
	Mismatches []Mismatch
}

// A FaultCount counts how often a fault was injected.
type FaultCount struct {
	Name  string `json:"name"`
	Count int    `json:"count"`
}

// Missed is a fault that has hit nothing.
type Missed struct {
	At      string `json:"at"` // the command's place in the script
	Command string `json:"command"`
}

// A Mismatch is an unmet expectation of the transcript: of a state or of an output.
type Mismatch struct {
	At       string `json:"at"`                 // file:line:column
	Message  string `json:"message,omitempty"`  // for a state: what was expected and seen
	Expected string `json:"expected,omitempty"` // for an output
	Actual   string `json:"actual,omitempty"`
}

// Passed reports whether all properties held (or only an expected one broke) and every expectation of the transcript was met.
// A schedule other than the transcript's need not show the scenario's bug.
func (r *Run) Passed() bool {
	if len(r.Mismatches) > 0 || r.Failure != "" {
		return false
	}
	if r.Violation != nil {
		return slices.Contains(strings.Split(r.Expected, ","), r.Violation.Property)
	}
	return r.Expected == "" || !r.Transcript
}

// Verdict returns the word that ends a trace: "pass", the broken property, "mismatch", "held" if a property should have broken
// and did not, or "error" if the run failed in another way.
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

// CountFault counts one more fault of that name. Faults stay sorted by name.
func (r *Run) CountFault(name string) { r.countFaults(name, 1) }

func (r *Run) countFaults(name string, count int) {
	n, found := slices.BinarySearchFunc(r.Faults, name, func(f FaultCount, name string) int { return strings.Compare(f.Name, name) })
	if !found {
		r.Faults = slices.Insert(r.Faults, n, FaultCount{Name: strings.Clone(name)})
	}
	r.Faults[n].Count += count
}

// FaultTotal returns the number of faults injected.
func (r *Run) FaultTotal() int {
	n := 0
	for _, f := range r.Faults {
		n += f.Count
	}
	return n
}

// Mutation says what may be behind a failure if the program changes what its informers' caches hold, "" if that is not known.
func (r *Run) Mutation() string {
	if r.Mutated == "" {
		return ""
	}
	return "this may be why: the program changes an object in the cache of an informer, in place of a copy (DeepCopy). With -simtest.mutations=on, client-go's mutation detector ends the process in this seed: " + r.Mutated
}
