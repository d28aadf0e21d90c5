package reports

import (
	"fmt"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// A Violation is a broken property.
type Violation struct {
	Property string        `json:"property"`
	Step     uint64        `json:"step"` // the first step at which it is broken
	At       time.Duration `json:"atNs"` // virtual time
	Key      string        `json:"key,omitempty"`
	Message  string        `json:"message"`           // what was expected and what was seen
	Because  []Evidence    `json:"because,omitempty"` // the steps that prove it, oldest first
}

// Evidence is one step of a proof.
type Evidence struct {
	Step uint64        `json:"step"`
	At   time.Duration `json:"atNs"`
	Text string        `json:"text"`
}

// Because returns a record as evidence.
func Because(r *sim.Record, format string, args ...any) Evidence {
	return Evidence{Step: r.Step, At: r.At, Text: fmt.Sprintf(format, args...)}
}

// Error implements error.
func (v *Violation) Error() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s is broken at step %d (%v): %s", v.Property, v.Step, v.At, v.Message)
	for _, e := range v.Because {
		fmt.Fprintf(&b, "\n  step %d (%v): %s", e.Step, e.At, e.Text)
	}
	return Plain(b.String())
}
