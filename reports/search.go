package reports

import (
	"fmt"
	"strings"
)

// Search is what the strategy exhaustive has made.
type Search struct {
	States  int    `json:"states"`  // that were seen
	Runs    int    `json:"runs"`    // to their end
	Cut     int    `json:"cut"`     // runs that came to a state seen before, and ended there
	Steps   uint64 `json:"steps"`   // of all runs
	Longest int    `json:"longest"` // steps of the longest run

	// The bounds: faults of the mix in a run, how often time passed early in it, how many actors were delayed (below 0: every order), and
	// its steps until it went on as under fifo.
	Faults int `json:"faults"`
	Delays int `json:"delays"`
	Early  int `json:"early"`
	Depth  int `json:"depth"`

	// Finished reports that there is no other run within the bounds of faults and time. It is false if something broke, or if a run was
	// too deep.
	Finished bool `json:"finished"`
}

// and sums up two searches with the same bounds. The other may be nil.
func (s Search) and(other *Search) *Search {
	if other != nil {
		s.States, s.Runs, s.Cut, s.Steps = s.States+other.States, s.Runs+other.Runs, s.Cut+other.Cut, s.Steps+other.Steps
		s.Longest, s.Finished = max(s.Longest, other.Longest), s.Finished && other.Finished
	}
	return &s
}

// String tells it in a line.
func (s Search) String() string {
	return fmt.Sprintf("%s in %s to the end and %d that came to a known state", Counted(s.States, "state"), Counted(s.Runs, "run"), s.Cut)
}

// write adds it to a verdict.
func (s *Search) write(b *strings.Builder, broken bool) {
	bounds := fmt.Sprintf("at most %s and %s, time passing early at most %s", Counted(s.Faults, "fault"), Counted(s.Delays, "delay"), Counted(s.Early, "time"))
	if s.Delays < 0 {
		bounds = fmt.Sprintf("at most %s, time passing early at most %s", Counted(s.Faults, "fault"), Counted(s.Early, "time"))
	}
	how := "every run with " + bounds
	switch {
	case broken:
		how = "not every run, because this one broke something"
	case !s.Finished:
		how = fmt.Sprintf("not every run with %s: those of more than %s were not branched after these", bounds, Counted(s.Depth, "step"))
	}
	fmt.Fprintf(b, "      exhaustive: %s\n      %s\n", how, s)
}
