package scenarios

import (
	"fmt"

	"github.com/informersim/informersim/subjects"
)

// Fits returns an error if the scenario asks for something that a kind of subject lacks: a run of it would say nothing about that kind.
func (s *Scenario) Fits(k subjects.Kind) error {
	for _, c := range s.cmds {
		a, ok := c.Command.(interface{ asks() []subjects.Feature })
		if !ok {
			continue
		}
		for _, f := range a.asks() {
			if why, lacking := k.Lacks[f]; lacking {
				return &LacksError{Feature: f, Err: &ScriptError{Pos: c.syntax.Pos, Err: fmt.Errorf("%s does not have %s (%s)", k.Name, f, why)}}
			}
		}
	}
	return nil
}

// LacksError is the error of a scenario that asks for what a kind of subject lacks.
type LacksError struct {
	Feature subjects.Feature
	Err     error // a *ScriptError
}

func (e *LacksError) Error() string { return e.Err.Error() }

// Unwrap returns the error with its position.
func (e *LacksError) Unwrap() error { return e.Err }

// asks returns what the informer of a command must have.
func (c *informerCmd) asks() (all []subjects.Feature) {
	if c.spec.Queue != "" {
		all = append(all, subjects.QueueFeature(c.spec.Queue))
	}
	if c.spec.WatchList {
		all = append(all, subjects.StreamingLists)
	}
	return all
}

// asks returns what the informer of a command must allow.
func (c *indexerCmd) asks() []subjects.Feature { return []subjects.Feature{subjects.LateIndexes} }
