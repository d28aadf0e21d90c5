package simtest

import (
	"errors"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// differs is called for a trace, named by a flag, that this program does not follow to its end: a fix makes a run differ, too. The
// trace's seed is run again, and decides. If the seed decides about everything, the run must also repeat.
func (r *runner) differs(file string, res *outcome) {
	r.t.Helper()
	var d *sim.DivergedError
	otherBuild := (res.header.Options[optionRuntime] == runtimeSeeded) != bubble.Seeded()
	if !errors.As(res.replay, &d) || otherBuild {
		fatal(r.t, "simtest: %s does not fit this program: %v\n%s", file, res.replay, whyNoReplay(res.header))
	}
	why := reports.Diverge(d, nil, res.report().Verdict()).Why
	logf(r.t, "simtest: %s differs from this program at step %d: %s\n%s\nIts seed %d is run again.", file, d.Step, why, whyNoReplay(res.header), res.header.Seed)
	verify := r.o.Verify
	r.o.Verify = verify || bubble.Seeded()
	r.seed(res.header.Seed) // does not return if it fails
	r.o.Verify = verify
	logf(r.t, "simtest: %s passes now: it differs at step %d, and its seed %d breaks nothing. If the difference is the fix, good. To rule out nondeterminism:\n  %s -simtest.verify -simtest.seed=%d",
		file, d.Step, res.header.Seed, r.line, res.header.Seed)
}
