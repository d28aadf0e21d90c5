package simtest

import "github.com/informersim/informersim/simtest/internal/wire"

// Counts runs seed 1 and returns how often the engine asked for something, how often it was asked, and the number of steps.
func Counts(t TB, o Options, body func(env *Env)) (trips, queries, steps uint64) {
	r := newRunner(t, o, body)
	res, _, err := r.job(wire.Find, 1, "")
	if err == nil && res.Failure != "" {
		t.Errorf("%s", res.Failure)
	}
	if err != nil {
		t.Errorf("%v", err)
		t.FailNow()
	}
	return res.Trips, res.Queries, res.Steps
}

// AskedCluster returns what the engine answers when it is asked for what Cluster's Revision, Steps and Faults return.
func AskedCluster(env *Env) (revision int64, steps uint64, faults int) {
	s := env.Cluster().state()
	return s.Revision, s.Steps, s.Faults
}
