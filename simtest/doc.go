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
// What the body asks for ([Env.Always], [Env.Eventually], [Env.Sometimes], and whatever it reports to its t), properties of your
// own ([Options.Properties]), and, for every client, what can be seen at the API:
//
//	WatchOrdered WatchUnique WatchReliable  a watch is in order, shows nothing twice, and has no gap
//	ListIsAtOneRevision                     a list, its pages included, is the Store at one revision
//	WatchGoesOn                             after a watch comes one from its last event, not from where it had begun
//	NoRelistOnEOF                           a watch that ends cleanly and had shown something costs a watch, not a list
//	NoHotLoop                               nobody repeats a list or watch without time passing
//	NoPanic BodyReturns NoLivelock          processes do not panic, the body does not wait for ever, the run ends
//
// The zero Options inject faults, from the mix "default".
//
// # A failure
//
// is made simpler, for ten seconds at most: fewer faults, a shorter and more orderly schedule that breaks the same. What is left
// is printed with the lines that repeat it, and its trace is kept under testdata/simtest, where the next test run finds it
// and replays it before anything else. Delete the file when it is of no use any more.
//
// # Flags
//
//	-simtest.seeds=N     how many seeds (SIMTEST_SEEDS)
//	-simtest.seed=S      just this one (SIMTEST_SEED)
//	-simtest.replay=F    just this trace (SIMTEST_REPLAY)
//	-simtest.shrink=D    make a failure simpler for this long; -1s for not at all (SIMTEST_SHRINK)
//	-simtest.verify      run each seed twice and compare (SIMTEST_VERIFY)
//
// # What goroutines in the bubble may not do
//
// Wait for something that was made outside of it (a channel of a package variable such as wait.NeverStop, the context of the
// test, real input and output): a watchdog names who does. And what they do must follow from what they are told and from the
// seed, which -simtest.verify checks.
//
// # Bit for bit
//
// Go leaves the order of a map, of the ready cases of a select and of timers of one instant to chance, and client-go has such.
// So that a seed is one run, build the test with an overlay of Go's runtime, which has the seed decide it:
//
//	go test -overlay="$(informersim overlay)" ./...
//
// Without it a seed is much the same run, and a stored trace is tried until it fits. A trace belongs to the way its test was
// built.
//
// Runs of one process follow one another, whatever t.Parallel says: they need process-wide state (random sources, error
// handlers) for themselves.
package simtest
