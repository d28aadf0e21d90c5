package differential

import (
	"context"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim/shrink"
	"github.com/informersim/informersim/subjects"
)

// Shrink drops commands for as long as the two sides still differ, in whatever way, and returns the smallest scenario found
// with its difference.
func Shrink(ctx context.Context, s *scenarios.Scenario, left, right subjects.Kind, seed uint64, d *Difference) (*scenarios.Scenario, *Difference, error) {
	r := shrink.Reducer[*script.Command]{
		Stop: func() bool { return ctx.Err() != nil },
		Fails: func(cmds []*script.Command) bool {
			smaller, sd := try(ctx, s.Name, cmds, left, right, seed)
			if sd == nil {
				return false
			}
			s, d = smaller, sd
			return true
		},
	}
	r.Reduce(s.File().Commands())
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	return s, d, nil
}

// try compares a scenario of these commands; the difference is nil if there is none, or the commands make no scenario.
func try(ctx context.Context, name string, cmds []*script.Command, left, right subjects.Kind, seed uint64) (*scenarios.Scenario, *Difference) {
	f := &script.File{Name: name + ".sim"}
	for _, c := range cmds {
		f.Nodes = append(f.Nodes, c)
	}
	s, err := scenarios.Parse(f.Name, script.Print(f))
	if err != nil {
		return nil, nil // a name is used that nothing declares any more
	}
	d, err := Compare(ctx, s, left, right, seed)
	if err != nil {
		return nil, nil // it cannot be carried out, so it is no smaller one
	}
	return s, d
}
