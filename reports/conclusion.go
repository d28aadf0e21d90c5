package reports

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// A Conclusion is what the end line of a trace says of its run beside the verdict, so that a report can be made from the trace alone:
// what broke, the proof, and what was checked.
type Conclusion struct {
	Violation *Violation `json:"violation,omitempty"`
	// Statement is what the broken property says of every run.
	Statement string `json:"statement,omitempty"`
	// Failure, Mismatches, Expected and ShrunkFrom are those of the Run.
	Failure    string     `json:"failure,omitempty"`
	Mismatches []Mismatch `json:"mismatches,omitempty"`
	Expected   string     `json:"expected,omitempty"`
	ShrunkFrom string     `json:"shrunkFrom,omitempty"`
	// Checked lists the properties, in their order.
	Checked []Checked `json:"checked,omitempty"`
	// Unjudged are the properties that the stack under test cannot be held to.
	Unjudged []Unjudged `json:"unjudged,omitempty"`
	// InForce are faults that last at the end, Down the processes that do not run then, of a Go test.
	InForce []string `json:"inForce,omitempty"`
	Down    []string `json:"down,omitempty"`
	// Begun is what the step that was not completed had done, of a run that was cut off in it; "" for nothing.
	Begun string `json:"begun,omitempty"`
	// Twin is the nearest run that passes, nil if nobody has looked for it.
	Twin *Twin `json:"twin,omitempty"`
	// ConvergingNs is the part of the virtual time after the faults stopped.
	ConvergingNs time.Duration `json:"convergingNs,omitempty"`
}

// Checked is a property, and how often it was checked in a run: records that it judged, or steps.
type Checked struct {
	Name  string `json:"name"`
	Times uint64 `json:"times"`
}

// Conclude returns the conclusion of a run. Equal runs have equal traces, so stacks of goroutines, which have addresses, are left out; of a panic's, the
// calls stay.
func Conclude(r *Run) *Conclusion {
	c := &Conclusion{
		Violation: r.Violation, Statement: r.Statement, Failure: r.Failure, Mismatches: r.Mismatches, Expected: r.Expected, ShrunkFrom: r.ShrunkFrom,
		Checked: r.Checked, Unjudged: r.Unjudged, ConvergingNs: r.Converging,
	}
	c.Failure = plainStacks(c.Failure)
	if c.Violation != nil {
		v := *c.Violation
		v.Message = plainStacks(v.Message)
		c.Violation = &v
	}
	return c
}

// plainStacks returns a message as a trace has it.
func plainStacks(text string) string {
	if p := PanicOf(text); p != "" {
		return p
	}
	return withoutStacks(text)
}

// withoutStacks returns a text up to the first goroutine's stack in it.
func withoutStacks(text string) string {
	for i := 0; i < len(text); {
		line, _, _ := strings.Cut(text[i:], "\n")
		if word := strings.TrimLeft(line, " \t"); strings.HasPrefix(word, "goroutine ") && strings.Contains(word, "[") {
			return strings.TrimRight(text[:i], " \t\n")
		}
		i += len(line) + 1
	}
	return text
}

// JSON is the conclusion as a trace's end line has it.
func (c *Conclusion) JSON() (json.RawMessage, error) {
	text, err := json.Marshal(c)
	if err != nil {
		return nil, fmt.Errorf("the end of the run: %w", err)
	}
	return text, nil
}

// ConclusionOf returns what a trace's end line says; nil for a trace without one, or of a format that had none. What this program
// does not know in it is left out.
func ConclusionOf(end *sim.TraceEnd) (*Conclusion, error) {
	if end == nil || len(end.About) == 0 {
		return nil, nil
	}
	c := &Conclusion{}
	if err := json.Unmarshal(end.About, c); err != nil {
		return nil, fmt.Errorf("the trace's end line: %w", err)
	}
	if c.Twin != nil && c.Twin.Version > TwinVersion {
		c.Twin = nil
	}
	if v := c.Violation; v != nil {
		v.Because = slices.DeleteFunc(v.Because, func(e Evidence) bool { return e.Text == "" })
	}
	return c, nil
}
