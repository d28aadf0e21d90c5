package differential

import (
	"context"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
)

// Shrink drops commands for as long as the two sides still differ, in whatever way, and returns the smallest scenario found
// with its difference.
func Shrink(ctx context.Context, s *scenarios.Scenario, left, right subjects.Kind, seed uint64, d *Difference) (*scenarios.Scenario, *Difference, error) {
	cmds := s.File().Commands()
	for size := len(cmds) / 2; size > 0; {
		dropped := false
		for from := 0; from < len(cmds); {
			to := min(from+size, len(cmds))
			rest := append(append([]*script.Command(nil), cmds[:from]...), cmds[to:]...)
			smaller, sd, err := try(ctx, s.Name, rest, left, right, seed)
			if err != nil {
				return nil, nil, err
			}
			if sd == nil {
				from = to
				continue
			}
			s, d, cmds, dropped = smaller, sd, rest, true
		}
		if !dropped || size > 1 {
			size /= 2
		}
	}
	return s, d, nil
}

// try compares a scenario of these commands; the difference is nil if there is none, or the commands make no scenario.
func try(ctx context.Context, name string, cmds []*script.Command, left, right subjects.Kind, seed uint64) (*scenarios.Scenario, *Difference, error) {
	if err := ctx.Err(); err != nil {
		return nil, nil, err
	}
	f := &script.File{Name: name + ".sim"}
	for _, c := range cmds {
		f.Nodes = append(f.Nodes, c)
	}
	s, err := scenarios.Parse(f.Name, script.Print(f))
	if err != nil {
		return nil, nil, nil // a name is used that nothing declares any more
	}
	d, err := Compare(ctx, s, left, right, seed)
	if err != nil {
		return nil, nil, ctx.Err() // it cannot be carried out, so it is no smaller one
	}
	return s, d, nil
}
