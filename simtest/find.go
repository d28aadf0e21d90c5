package simtest

import (
	"cmp"
	"time"

	"github.com/informersim/informersim/simtest/internal/wire"
)

// Finding is a failure that Find returns.
type Finding struct {
	Seed     uint64
	Property string // the broken property; "" if the body failed in another way
	Message  string // what was expected and what was seen
	Steps    uint64
	Faults   uint64
	Virtual  time.Duration
	Text     string // what Run would print
	Trace    []byte // the run's trace
}

// String returns what Run would print.
func (f *Finding) String() string { return f.Text }

// Find is Run for a body that is expected to fail: it returns the first failure, or nil if all seeds pass. It neither replays
// stored traces nor stores any. A body that reports an error to its t still fails that test.
//
// A failure is as it was found, unless Options.Shrink or -simtest.shrink says for how long it may be shrunk. With -simtest.traces it is shrunk as Run
// does, what is returned is the run that is left, and its trace, log and report are kept.
//
// It makes as many runs as -simtest.seeds says if these are more than Options.Seeds. Fewer would make a test fail that must find something, although
// nothing is wrong with it.
//
// With -simtest.replay or -simtest.seed Find makes only that run, and what it breaks fails the test, so that it is seen.
//
// client-go's mutation detector, which ends the process, is off unless Options.MutationDetector is On.
func Find(t TB, o Options, body func(env *Env)) *Finding {
	needsTest(t)
	t.Helper()
	asked := o.Shrink > 0
	r := newRunner(t, o, body)
	if againFor.test != "" {
		r.makeAgain()
		return nil
	}
	r.data.MutationDetector = cmp.Or(r.data.MutationDetector, int(Off))
	switch {
	case flags.replay != "":
		if f, ours := r.again(wire.Replay, 0, flags.replay); ours {
			return f
		}
	case flags.seed != 0:
		f, _ := r.again(wire.Seed, flags.seed, "")
		return f
	}
	if !asked && r.traces == "" {
		r.o.Shrink = -1
	}
	for seed := uint64(1); seed <= uint64(max(r.o.Seeds, flags.seeds)); seed++ {
		res, trace, err := r.job(wire.Find, seed, "")
		switch {
		case err != nil:
			fatal(t, "%v", err)
		case res.Invalid:
			fatal(t, "%s", res.Failure)
		case res.Failure != "":
			r.kept(res)
			return newFinding(res, trace)
		}
	}
	return nil
}

// sameAgain is what a test says of a trace that it has replayed.
const sameAgain = "is the same run again, step by step"

func newFinding(res *wire.Result, trace []byte) *Finding {
	return &Finding{
		Seed: res.Seed, Property: res.Property, Message: res.Message, Steps: res.Steps, Faults: res.Faults, Virtual: res.Virtual,
		Text: res.Failure, Trace: trace,
	}
}

// again makes the one run that a flag names, and fails the test with what that breaks, as Run does. It returns what it breaks, and whether the
// run is this test's.
func (r *runner) again(mode wire.Mode, seed uint64, file string) (f *Finding, ours bool) {
	r.t.Helper()
	res, trace, err := r.job(mode, seed, file)
	if err != nil {
		fatal(r.t, "%v", err)
	}
	for _, line := range res.Logs {
		r.t.Logf("%s", line)
	}
	r.refuseLeftOut(res.Other, file)
	if file != "" {
		r.met(file, res.OtherRun)
	}
	switch {
	case res.Invalid:
		fatal(r.t, "%s", res.Failure)
	case res.Hash == "":
		return nil, false // nothing was run
	case res.Failure == "":
		return nil, true
	case res.Same:
		r.t.Errorf("simtest: %s "+sameAgain+". The test expects what it breaks, and passes without -simtest.replay.\n\n%s", file, res.Failure)
	default:
		r.t.Errorf("%s", res.Failure)
	}
	if res.Message == "" {
		return nil, true // it does not fit the program
	}
	return newFinding(res, trace), true
}

// kept says where a finding's trace is, if a flag wants it kept.
func (r *runner) kept(res *wire.Result) {
	r.t.Helper()
	if flags.traces == "" || workerFor != "" {
		return
	}
	for _, line := range res.Logs {
		r.t.Logf("%s", line)
	}
	switch {
	case res.File != "":
		r.t.Logf("simtest: the finding's trace is in %s\n  see it again\n    %s -simtest.replay=%s", res.File, r.line, shellQuote(res.File))
	case res.Unkept != "":
		r.t.Errorf("simtest: -simtest.traces=%s: the trace of seed %d, in which the test has found what it looks for, is not kept: %s", flags.traces, res.Seed, res.Unkept)
	case r.folder == "":
		r.t.Logf("simtest: -simtest.traces: no trace is kept of a test whose t has no TempDir: its input varies, and no trace has that")
	}
}
