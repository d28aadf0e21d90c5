package simtest

import "time"

// Finding is a failure that Find returns.
type Finding struct {
	Seed     uint64
	Property string // the name of what is broken; "" if the body failed otherwise
	Message  string // what was expected and what was seen
	Steps    uint64
	Faults   uint64
	Virtual  time.Duration
	Text     string // all that Run would print
	Trace    []byte // the run's trace
}

// String is all that Run would print.
func (f *Finding) String() string { return f.Text }

// Find is Run for a body that is expected to fail: it returns the first failure, nil if all seeds pass. It looks at no stored
// traces and keeps none. A body that reports to its t fails that test all the same.
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
