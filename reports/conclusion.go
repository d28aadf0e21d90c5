package reports

import (
	"bytes"
	"encoding/json"
	"errors"
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
	// Mutated is that of the Run.
	Mutated string `json:"mutated,omitempty"`
	// Checked lists the properties, in their order.
	Checked []Checked `json:"checked,omitempty"`
	// Unjudged are the properties that the stack under test cannot be held to.
	Unjudged []Unjudged `json:"unjudged,omitempty"`
	// InForce are faults that last at the end, Down the processes that do not run then, and Unattended says which objects nobody in the cluster acts on, of a Go test.
	InForce    []string `json:"inForce,omitempty"`
	Down       []string `json:"down,omitempty"`
	Unattended []string `json:"unattended,omitempty"`
	// Begun is what the step that was not completed had done, of a run that was cut off in it; "" for nothing.
	Begun string `json:"begun,omitempty"`
	// Next is the choice of that step, nil if the run was cut off between two. Repeats says that another process has come to the same end by these
	// steps and that choice, so that a replay does, too.
	Next    *Next `json:"next,omitempty"`
	Repeats bool  `json:"repeats,omitempty"`
	// Twin is the nearest run that passes, nil if nobody has looked for it.
	Twin *Twin `json:"twin,omitempty"`
	// ConvergingNs is the part of the virtual time after the faults stopped.
	ConvergingNs time.Duration `json:"convergingNs,omitempty"`
}

// Exited begins what a conclusion has as the failure of a run that has ended its process by an exit, and not by a panic.
const Exited = "the process exited with status "

// Next is the choice of a step that was not completed, as a trace's lines have those of steps that were.
type Next struct {
	Actor  string   `json:"a"`
	Kind   string   `json:"k"`
	Target uint32   `json:"g,omitempty"`
	Draws  []uint64 `json:"d,omitempty"`
}

// NextOf returns a choice as a conclusion has it.
func NextOf(p *sim.Pick) *Next {
	return &Next{Actor: p.Actor, Kind: p.Kind.String(), Target: p.Target, Draws: p.Draws}
}

// Pick returns the choice; ok is false if this program does not know its kind.
func (n *Next) Pick() (p sim.Pick, ok bool) {
	kind, ok := sim.KindByName(n.Kind)
	return sim.Pick{Actor: n.Actor, Kind: kind, Target: n.Target, Draws: n.Draws}, ok
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
		Violation: r.Violation, Statement: r.Statement, Failure: r.Failure, Mismatches: r.Mismatches, Expected: r.Expected, ShrunkFrom: r.ShrunkFrom, Mutated: r.Mutated,
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

// WithConclusion returns a trace whose end line says something else of the run: what change makes of the conclusion that it has.
func WithConclusion(trace []byte, change func(*Conclusion)) ([]byte, error) {
	last := bytes.LastIndex(trace, []byte("\n{\"end\":")) + 1
	var end sim.TraceEnd
	if last == 0 || json.Unmarshal(trace[last:], &end) != nil {
		return nil, errors.New("the trace has no end line")
	}
	c, err := ConclusionOf(&end)
	if err != nil {
		return nil, err
	}
	if c == nil {
		c = &Conclusion{}
	}
	change(c)
	if end.About, err = c.JSON(); err != nil {
		return nil, err
	}
	line, err := end.Line()
	if err != nil {
		return nil, err
	}
	return append(bytes.Clone(trace[:last]), line...), nil
}
