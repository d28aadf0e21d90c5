// Package simtest runs a controller, unmodified, against a deterministic apiserver from a normal Go test:
// virtual time, injected faults, a schedule decided by a seed, and for every failure a trace that replays it.
//
//	func TestController(t *testing.T) {
//		simtest.Run(t, simtest.Options{}, func(env *simtest.Env) {
//			env.Go("controller", func(ctx context.Context) error {
//				return Run(ctx, env.RESTConfig("controller"))
//			})
//			env.Create(&corev1.ConfigMap{...})
//			env.Advance(time.Minute)
//			env.StopFaults()
//			env.Eventually("every ConfigMap has its Secret", 20*time.Minute, func() error { ... })
//		})
//	}
//
// Run calls the body once for each seed, inside a testing/synctest bubble of its own. Processes started with
// [Env.Go] and the body itself are goroutines there. Their requests are parked until everything in the bubble
// is blocked; then the next event is chosen: a request reaches a replica, a response or a watch frame reaches
// its client, a fault strikes, a process crashes, or time passes. The goroutines in the bubble then run until
// they block again. A goroutine that waits for a sync.Mutex is not blocked in this sense, unless the test is built with the overlay (see below):
// only there may one goroutine keep a lock across a request or a sleep while another waits for it.
//
// # What a test writes and asks
//
// The body of a test changes the cluster as the client "workload", which goes through the API like any other:
// [Env.Create], [Env.Update], [Env.UpdateStatus], [Env.Mutate] (get, change, and again if somebody was
// faster), [Env.Patch], [Env.Apply] (a manifest), [Env.ServerSideApply] (as a field manager) and
// [Env.Delete]. These return when the write is in the Store, or fail the test. It reads the Store itself, at
// its newest revision: with [Env.Get] and [Env.List], which takes selectors, and with [Env.Cluster] what is
// in no object. Reading is no step of the run and no fault affects it. Once a kind has been read, Get and
// List cost no exchange with the engine, so checks may read as much as they like.
//
// What is under test runs in processes. Each of the usual questions about them is a line, and has an example:
//
//	env.Go("controller", run)                                 // one process
//	env.Replicas("controller", 3, run)                        // several of the same program
//	env.Crash(env.Leader("default", "controller"))            // the leader dies, as by kill -9
//	env.CrashAfter("controller", fault.Trigger{Event: fault.TriggerCommit, Resource: "secrets"})
//	                                                          // a crash between two writes
//	env.Inject(fault.Fault{Kind: fault.WriteLost, Target: "controller", Verb: "create"})
//	                                                          // a write whose answer is lost
//	env.ServeWebhooks("controller", mux)                      // webhooks: of admission (Options.Webhooks), of conversion
//
// # Your client-go, and the engine beside it
//
// The test links the client-go that your go.mod names, v0.26 or later, and nothing else that is heavy. The
// fake apiserver and everything that chooses, checks and writes traces is the engine: a process of its own,
// `informersim world`, which the test starts once and talks to over a pipe. It is the first of these that
// there is:
//
//   - the program that the environment variable INFORMERSIM names, by a path that holds in the
//     test's folder: informersim or informersim-apiserver. One that does not fit is an error;
//   - informersim-apiserver or informersim on the PATH, if it has this module's version;
//   - an engine that was built before, in the user's cache;
//   - one that the go command builds then, from the version of this module. That takes minutes, once; a line on stderr says so, which
//     go test shows when it is told -v, or when the test has ended.
//
// The engine ends with the test process. If that is killed or panics in the middle of a run, the engine
// writes the trace of the run, and to stderr the line that repeats it. The next run of the test begins with that
// trace. If somebody ends it and its process group by SIGINT, SIGTERM or SIGHUP, as Ctrl-C and timeout(1) do, nothing has been
// found: the line is there, and the trace only with -simtest.traces. A signal to the test's process alone cannot be
// told from a death. An engine that is killed is an error of the run, and the next run starts another one.
//
// The go line of your module has to be 1.25 or later, since bubbles are. Where it cannot be, put the tests
// into a nested module: a folder with a go.mod of its own that requires simtest and, with a replace
// directive, your module.
//
// # What is checked
//
// What the body states ([Env.Always], [Env.Eventually], [Env.Sometimes], and what it reports to its t), your own properties
// ([Options.Properties]), and, for every client, what can be observed at the API:
//
//	WatchOrdered WatchUnique WatchReliable  a watch is in order, without duplicates and without gaps
//	ListIsAtOneRevision                     a list, including all its pages, shows the Store at one revision
//	WatchResumes                            a watch resumes from the last event of the one before it, not from where that began
//	NoRelistOnEOF                           after a watch that delivered events and ended cleanly comes a watch, not a list
//	NoHotLoop                               no client repeats a list or watch, and no process its write of an object, without time passing
//	NoPanic BodyReturns NoLivelock          processes do not panic, the body does not block for ever, the run ends
//
// Whatever your controller is for, it should come to rest, keep the peace with others, and leave nothing behind. A test that asks for [WellBehaved]
// has that judged, too, from the requests of its processes alone:
//
//	simtest.Run(t, simtest.Options{Properties: simtest.WellBehaved()}, func(env *simtest.Env) { … })
//
// # What a seed decides
//
// With the zero Options, a seed decides not only the schedule, but also the circumstances: the kinds of faults and their rates, from
// the mixes edges, default and storm in turn; whether processes crash; the number of replicas and whether they lag; how many
// events a watch cache keeps; whether the server has streaming lists; and, with the overlay (see below), whether goroutines are interleaved. Of two neighbouring seeds, one does what the other does
// not: the seeds 1 and 2 have between them every kind of fault, crashes, lagging replicas, and a server without streaming lists.
// A failure names the circumstances, and its trace keeps them. See [Options] for how to fix some of them.
// From seed 16 on, in half of the seeds 16 to 31, 48 to 63 and so on, other clients write objects just before the controller does ([fault.WriteOvertaken]).
//
// With [Options.Nodes], Pods are bound to nodes and live; in half of the seeds they also crash, are evicted and lose their nodes. With
// names such as "deployment" in [Options.Controllers], Kubernetes' own controllers make Pods of Deployments, Jobs and others. With the set "workload" of
// [Options.Stages], these say that they have what they ask for, later than their controller would like, without any Pods.
//
// In every fourth run, from seed 3 on, client-go's mutation detector watches the caches of informers ([Options.MutationDetector]). A program that changes what it got from one, and not
// a copy, dies of it. What else fails is tried once more with it, by another process, and the failure says if that dies: a changed cache may be why.
//
// [Matrix] runs a test under several circumstances of your choice, as subtests.
//
// A process that crashes is called again by [Env.Go] and must find its state where a real one would: at the API or outside of it,
// not in variables of the body. A negative Options.CrashProbability prevents crashes.
//
// # What Run says
//
// A Run that passes logs one line, which go test shows with -v:
//
//	simtest: 20 seeds, 855 faults (list-slow 111, replica-lag 91, replica-restart 44, write-lost 40, and 43 other kinds),
//	24m of virtual time and 114s after the faults had stopped, nothing found; more: -simtest.seeds=500
//
// If in no seed's run a client of [Env.RESTConfig] has made a request, as when a process was not started, it says so: nothing has been tested. It fails if
// that is so in half of the seeds or more because a process returns an error first, such as a manager that refuses its options. With a
// few conditions of [Env.Sometimes], it also says in how many seeds each held. Before a failure, it says the same of the
// seeds that passed.
//
// # Failures
//
// A body that reports an error to its t, and goes on, has failed when it returns: that seed is reported, and Run ends. Its t is to be the one
// that Run was given, or of a subtest of it.
//
// A failure is shrunk, for ten seconds at most, to fewer faults and a shorter, more orderly schedule that break the same
// property. Beside it lies the nearest run that passes: the same without one of the faults that are left, and where the two first differ; looking for
// it takes two seconds at most. If the failure does not come again when the same choices are made once more, no change of them is why another run passes: the failure says so instead, and how to have the seed decide. The result is printed with the fault that a client of the body's own met last, the faults that were injected and whether they last, the last that was done to each
// object involved, in which lines of yours goroutines waited, for a library, too, when [Env.Eventually] gave up, how clients learned of each object, by a watch or a list, what happened last to those that the failure names (so name them in what Always and Eventually return), the requests that failed with
// their HTTP codes, the reconciles that a rate limiter may still put off, the last events of all, and the commands that reproduce it. Its
// trace is kept under testdata/simtest, where the next test run finds it and replays it first. Delete the file when you no
// longer need it. Of a file that cannot be read, such as a pointer of Git LFS, the seed in its name is run. While a fuzz target is fuzzed, no trace is kept: its inputs vary. Beside the trace lies a report to open in a browser (.html): the run step by step, made from the trace alone.
//
// What the program logs with klog, and what reaches the error handlers of Kubernetes' libraries, is printed with a failure
// instead of to the terminal, each line with its step and virtual time; all of it is in the file .log beside the trace, and no
// part of the trace. klog's own -v and -vmodule decide what is logged, and -alsologtostderr has it on the terminal, too. For
// controller-runtime, or another user of logr, set [Logger] as the logger: ctrl.SetLogger(simtest.Logger()) in TestMain. [Env.Logf] puts a line into
// the trace.
//
// The engine sees requests, not the reconciles that send them. [Logger] also tells it of those of controller-runtime, from v0.15 on; of any other controller's,
// [Env.Reconciling] does, with a line where the test calls the reconcile function. Then a failure's story, diagram and explanations have them: which
// controller reconciled the object involved, when, with which error, which reconcile has not returned, and what each has sent. A request is a reconcile's if the
// goroutine that began it sends it, or if its context is the one that controller-runtime gave it. Others are told as their client's only: a goroutine
// that a reconcile starts may be the cache's, or its informer's.
//
// Go ends the process when a goroutine of the program panics, when it calls os.Exit or log.Fatal, and when the test runs into
// its time limit. The engine then prints which test and seed it was, how far the run got, what was logged last, and where the
// trace so far is. An engine that dies is reported by the test, with the same trace.
//
// A goroutine that never waits is a hot loop: it keeps time from passing. After [Options.RealQuiescenceTimeout] the test fails
// with the goroutine's stack, and the trace so far is kept.
//
// Both are shrunk, too, as long as other failures are, in further processes of the test's executable, which are told to run only this test: what the test does before Run happens in each of them, and
// so does TestMain. A run counts that ends its process by the same panic, from the same calls, or by the same exit status and last words, or that hangs it in the same function. What is left is printed after Go's own message, its trace takes the place of the
// first one and repeats. Of a trace that could not be shrunk, the seed is run again.
//
// Nobody waits for what is said after the end of a test that writes to a terminal or a file, as where go test is given no package. Then the next run of the test shrinks it, before it replays it. The go command waits for a
// tenth of its -timeout, at least for five seconds. After a time limit there is no shrinking, nor for a test of a *testing.B, of a t of another library than Ginkgo, or on Windows.
//
// # Flags
//
//	-simtest.seeds=N     run N seeds; Find takes more than Options.Seeds only (SIMTEST_SEEDS)
//	-simtest.seed=S      run only seed S (SIMTEST_SEED)
//	-simtest.replay=F    replay only the trace in file F (SIMTEST_REPLAY)
//	-simtest.traces=DIR  keep the traces of failures in DIR, those of what Find finds, and that of -simtest.seed, whatever it does (SIMTEST_TRACES)
//	-simtest.shrink=D    shrink a failure for at most D; a negative D disables it (SIMTEST_SHRINK)
//	-simtest.verify      run each seed twice and compare (SIMTEST_VERIFY)
//	-simtest.parallel=N  make N runs at the same time, in as many processes (SIMTEST_PARALLEL)
//
// A failure of seed 7 of TestX is TestX-7.trace.jsonl, and TestX-run2-7.trace.jsonl where the test's second Run or Find has found it.
//
// DIR, too, is a path that holds in the test's folder. In testdata/simtest a failure of the same seed takes the place of the one before, and is
// replayed first. In DIR nothing is replaced, and nothing is replayed unless -simtest.replay names it: of a second failure with seed 7 the trace is
// TestX-7-2.trace.jsonl. A DIR in which no file can be made is an error before anything is run.
//
// A test that passes because [Find] has found something leaves nothing; with -simtest.traces it keeps the trace, shrunk, with its log and its report,
// and go test -v shows the command that replays it. Then Find makes the trace's run only, says whether it is the same, and fails the test with what
// it breaks, so that it is seen. So it does for -simtest.seed.
//
// These take the place of what Options say or a seed draws, for all tests that run, and leave the rest as it was. So a failure can be tried without
// crashes, say, or with one apiserver. A failure's command has them, too.
//
//	-simtest.mix=M           have the faults of the built-in mix M; none for no faults but those of WellBehaved (SIMTEST_MIX)
//	-simtest.crashes=P       crash processes with the probability P in every step; -1 for never (SIMTEST_CRASHES)
//	-simtest.replicas=N      have N apiservers (SIMTEST_REPLICAS)
//	-simtest.history=N       have watch caches of N events; -1 for those of a real apiserver (SIMTEST_HISTORY)
//	-simtest.watchlist=on    have streaming lists, or not: off (SIMTEST_WATCHLIST)
//	-simtest.interleave=on   have goroutines interleaved, or not: off (SIMTEST_INTERLEAVE)
//	-simtest.mutations=on    have caches watched for objects that are changed, or not: off (SIMTEST_MUTATIONS)
//
// A value that a flag does not take is an error, in the environment, too.
//
// # What goroutines in the bubble may not do
//
// They may not wait for anything made outside the bubble (a channel in a package variable such as wait.NeverStop, the context
// of the test, real I/O); a watchdog names the goroutine that does. What they do must depend only on the seed and on what the
// API told them, which -simtest.verify checks.
//
// # Bit-for-bit reproduction
//
// Go leaves to chance the order of a map's keys, of a select's ready cases and of timers due at the same instant, and client-go
// depends on these in places. To make a seed stand for exactly one run, build the test with an overlay of Go's runtime that
// lets the seed decide them:
//
//	informersim go test ./...
//
// Without it, runs of a seed are nearly the same, and a stored trace is retried until it fits. A trace replays only in a test
// built the same way, with or without the overlay.
//
// # Races inside a step
//
// Goroutines of a run have one processor. Each runs until it waits, so one that looks, and then acts on what it saw, is never overtaken in between:
// a signal that is lost there, or a key that is dropped between two locks, is not found, and no race detector sees it either. In a test built with the
// overlay, goroutines are interleaved in half of the runs ([Options.Interleave]): where they synchronize, the seed has some give way, and picks which goes on. The
// failure says "goroutines interleaved" unless it breaks without, and its trace replays.
//
// # Several runs at the same time
//
// Runs in one process are serialized, even under t.Parallel: each needs process-wide state (random sources, error handlers) to
// itself. With -simtest.parallel=N, a Run of a *testing.T starts N processes: the test's executable, told to run only this test. What the test does
// before Run happens in each of them; they make the runs of the seeds from 2 on, and skip the rest of the test, up to deferred functions and Cleanup.
// A seed that does not pass there is run again in the test's own process, which shrinks and reports it, so that a failure is the same one with and without
// the flag; if it passes then, the trace of the run that did not is kept, even of one during which its process died. What a body leaves in variables of the test, and what it logs, stays in the process that ran the seed: a test that counts its runs must not
// be given the flag. Coverage would be missing, too, so the flag has no effect with -cover, nor in a test's second Run.
//
// It is worth it where there are idle processors and many seeds: starting a process and its engine takes about as long as ten runs.
package simtest
