// Package simtest runs a controller, unmodified, against a deterministic apiserver from a normal Go test: virtual time,
// injected faults, a schedule that a seed decides, and for every failure a trace that replays.
//
//	func TestController(t *testing.T) {
//		simtest.Run(t, simtest.Options{}, func(env *simtest.Env) {
//			env.Go("controller", func(ctx context.Context) error {
//				return Run(ctx, env.RESTConfig("controller"))
//			})
//			env.Create(&corev1.ConfigMap{...})
//			env.Advance(time.Minute)
//			env.StopFaults()
//			env.Eventually("every ConfigMap has its Secret", 10*time.Minute, func() error { ... })
//		})
//	}
//
// Run calls the body once for each seed, inside a testing/synctest bubble of its own. Processes started with [Env.Go] and
// the body itself are goroutines there. Their requests are parked until everything in the bubble is blocked; then the next
// thing that happens is chosen: a request reaches a replica, an answer or a watch frame reaches its client, a fault strikes, a
// process crashes, time passes. Everything else in the bubble runs on until it is blocked again.
//
// # What is checked
//
// What the body asks for ([Env.Always], [Env.Eventually], [Env.Sometimes], and whatever it reports to its t), and, for every
// client, what can be seen at the API: watches are ordered, unique and without gaps, lists are at one revision, and nobody
// repeats a request in a tight loop. The zero Options inject faults, from the mix "default".
//
// # A failure
//
// is printed with the lines that repeat it, and its trace is kept under testdata/simtest, where the next test run finds it
// and replays it before anything else. Delete the file when it is of no use any more.
//
// # Flags
//
//	-simtest.seeds=N     how many seeds (SIMTEST_SEEDS)
//	-simtest.seed=S      just this one (SIMTEST_SEED)
//	-simtest.replay=F    just this trace (SIMTEST_REPLAY)
//	-simtest.verify      run each seed twice and compare (SIMTEST_VERIFY)
//
// # What goroutines in the bubble may not do
//
// Wait for something that was made outside of it (a channel of a package variable such as wait.NeverStop, the context of the
// test, real input and output): a watchdog names who does. And what they do must follow from what they are told: iterating
// over a map to make requests, or a select among several ready channels, makes a run that does not repeat, which
// -simtest.verify finds.
//
// Runs of one process follow one another, whatever t.Parallel says: they need process-wide state (random sources, error
// handlers) for themselves.
package simtest
