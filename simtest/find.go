package simtest

import "time"

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
		h, err := header(r.o, t.Name(), r.pkg, seed)
		if err != nil {
			fatal(t, "simtest: %v", err)
		}
		res := r.play(source{header: h})
		if !res.failed() {
			continue
		}
		f := &Finding{
			Seed: seed, Message: res.why(), Steps: res.steps, Faults: res.faults, Virtual: res.run.Virtual,
			Text: r.text(res, ""), Trace: res.trace.Bytes(),
		}
		if v := res.violation; v != nil {
			f.Property, f.Message = v.Property, v.Message
		}
		return f
	}
	return nil
}
