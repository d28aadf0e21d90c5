package scenarios

import (
	"cmp"
	"fmt"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// Interleaving says whether the seed interleaves the goroutines of the stack under test within a step.
type Interleaving int

// The values of Options.Interleave.
const (
	// InterleaveBySeed draws it from the seed, for every other run on average, where schedules are explored and the program can do it.
	InterleaveBySeed Interleaving = iota
	InterleaveOn
	InterleaveOff
)

// optionInterleave is the key of the option in traces' headers.
const optionInterleave = "interleave"

// interleaves decides whether the goroutines of a run are interleaved. That needs a program of which subjects.Kind.Interleaved says that it can.
func (o *Options) interleaves() bool {
	switch {
	case o.Interleave != InterleaveBySeed:
		return o.Interleave == InterleaveOn
	case o.Subject.Interleaved == nil || o.takesDefaults() || o.StrategyName() == Exhaustive:
		return false
	}
	return sim.NewStream(o.Seed, "configuration/interleave").IntN(2) == 0
}

// Interleaves reports whether the goroutines of the run with this header are interleaved.
func Interleaves(h *sim.Header) bool { return h.Options[optionInterleave] != "" }

// CanInterleave returns nil if this program can interleave the goroutines of a kind of subject, else an error that says why not, and what to do.
func CanInterleave(k subjects.Kind) error {
	if k.Interleaved != nil {
		return nil
	}
	return fmt.Errorf("the goroutines of the subject %s cannot be interleaved: %s", k.Name, cmp.Or(k.NotInterleaved, "it has none"))
}

// hostOf returns the host of a run, nil if it needs none.
func hostOf(k subjects.Kind, h *sim.Header) (subjects.Host, error) {
	if !Interleaves(h) {
		return k.Host, nil
	}
	return k.Interleaved, CanInterleave(k)
}
