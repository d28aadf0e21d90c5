package world

import (
	"errors"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// differs is called for a trace, named by a flag, that this program does not follow to its end: a fix makes a run differ, too. The
// trace's seed is run again, and decides. If the seed decides about everything, the run must also repeat.
func (r *runner) differs(file string, res *outcome) error {
	var d *sim.DivergedError
	otherBuild := (res.header.Options[optionRuntime] == runtimeSeeded) != r.task.Seeded
	if !errors.As(res.replay, &d) || otherBuild {
		r.failf("%s does not fit this program: %v\n%s", file, res.replay, r.whyNoReplay(res.header))
		return nil
	}
	why := reports.Diverge(d, nil, res.report().Verdict()).Why
	r.logf("%s differs from this program at step %d: %s\n%s\nIts seed %d is run again.", file, d.Step, why, r.whyNoReplay(res.header), res.header.Seed)
	r.task.Verify = r.task.Verify || r.task.Seeded
	if err := r.seed(res.header.Seed); err != nil || r.result.Failure != "" {
		return err
	}
	r.logf("%s passes now: it differs at step %d, and its seed %d breaks nothing. If the difference is the fix, good. To rule out nondeterminism:\n  %s -simtest.verify -simtest.seed=%d",
		file, d.Step, res.header.Seed, r.task.Command, res.header.Seed)
	return nil
}
