package simtest

import (
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
// nor stores traces. A body that reports an error to its t still fails that test.
func Find(t TB, o Options, body func(env *Env)) *Finding {
	r := newRunner(t, o, body)
	t.Helper()
	for seed := uint64(1); seed <= uint64(r.o.Seeds); seed++ {
		res, trace, err := r.job(wire.Find, seed, "")
		switch {
		case err != nil:
			fatal(t, "%v", err)
		case res.Invalid:
			fatal(t, "%s", res.Failure)
		case res.Failure != "":
			return &Finding{
				Seed: seed, Property: res.Property, Message: res.Message, Steps: res.Steps, Faults: res.Faults, Virtual: res.Virtual,
				Text: res.Failure, Trace: trace,
			}
		}
	}
	return nil
}
