package differential

import (
	"context"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/sim/shrink"
	"github.com/informersim/informersim/subjects"
)

// Shrink drops commands while the two sides still differ, in any way, and returns the smallest scenario found and its
// difference. It ends early when ctx is done.
func Shrink(ctx context.Context, s *scenarios.Scenario, left, right subjects.Kind, seed uint64, d *Difference) (*scenarios.Scenario, *Difference) {
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
	return s, d
}

// try compares a scenario of these commands. The difference is nil if there is none or the commands are not a valid scenario.
func try(ctx context.Context, name string, cmds []*script.Command, left, right subjects.Kind, seed uint64) (*scenarios.Scenario, *Difference) {
	f := &script.File{Name: name + ".sim"}
	for _, c := range cmds {
		f.Nodes = append(f.Nodes, c)
	}
	s, err := scenarios.Parse(f.Name, script.Print(f))
	if err != nil {
		return nil, nil // it uses a name whose declaration was dropped
	}
	d, err := Compare(ctx, s, left, right, seed)
	if err != nil {
		return nil, nil // it cannot be run
	}
	return s, d
}
