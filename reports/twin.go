package reports

import (
	"fmt"
	"strings"
)

// A Twin is the nearest run that passes: one with one thing changed. It is looked for when a report is made of a run that fails, and kept in
// the end line of the run's trace, where a program that does not know it leaves it out.
type Twin struct {
	// Version is that of this record; one that is greater than TwinVersion is not read.
	Version int `json:"version"`
	// Tried is how many runs were made, each with another change.
	Tried int `json:"tried"`
	// Change says what is changed in the run that passes; "" if none of those that were tried does. Steps is its length.
	Change string `json:"change,omitempty"`
	Steps  uint64 `json:"steps,omitempty"`
	// Partings are the first places where the two runs differ, in order.
	Partings []Parting `json:"partings,omitempty"`
}

// TwinVersion is the version of the record that this program writes.
const TwinVersion = 1

// A Parting is what two runs do at a place where they differ. Here is the run that fails; steps are numbered in the run they are of.
type Parting struct {
	Here  []Line `json:"here,omitempty"`
	There []Line `json:"there,omitempty"`
}

// Found reports whether there is such a run.
func (t *Twin) Found() bool { return t != nil && t.Change != "" }

// Sentence says what came of the search.
func (t *Twin) Sentence() string {
	if !t.Found() {
		return fmt.Sprintf("None was found: %s with one thing changed did not pass", Counted(t.Tried, "run"))
	}
	return fmt.Sprintf("The run passes if %s", t.Change)
}

// First is the step at which the run that fails first differs from its twin, 0 if it has none.
func (t *Twin) First() uint64 {
	if !t.Found() {
		return 0
	}
	for _, d := range t.Partings {
		if len(d.Here) > 0 {
			return d.Here[0].Step
		}
	}
	return 0
}

// write writes the twin as a section of a report.
func (t *Twin) write(b *strings.Builder) {
	if !t.Found() {
		return
	}
	fmt.Fprintf(b, "\n  the nearest run that passes (- this run, + that one)\n    %s\n", PlainLine(t.Sentence()))
	for _, d := range t.Partings {
		for _, l := range d.Here {
			fmt.Fprintf(b, "    - step %-5d %9s  %s\n", l.Step, Rounded(l.At), PlainLine(l.Text))
		}
		for _, l := range d.There {
			fmt.Fprintf(b, "    + step %-5d %9s  %s\n", l.Step, Rounded(l.At), PlainLine(l.Text))
		}
	}
}

// WithTwin returns a trace whose end line has a twin. Hashes do not cover it.
func WithTwin(trace []byte, t *Twin) ([]byte, error) {
	if t == nil {
		return trace, nil
	}
	return WithConclusion(trace, func(c *Conclusion) { c.Twin = t })
}
