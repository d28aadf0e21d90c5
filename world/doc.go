// Package world is the engine of Go tests: it makes the runs of the module simtest, whose test process holds the controller and the bubble in
// which it runs. The two talk over a pair of pipes (package world/wire).
//
// The package owns everything of such a run that is not the user's: the kernel and its strategy, the fake apiserver, crashes and restarts of
// processes, the garbage collector, traces, shrinking, replay and the report. It is the side that decides: a step is
// made here, and the test process is told what that means for it (a request is answered, a process is killed, time passes), lets its
// goroutines run until nothing moves any more, and reports what they want. A step that means nothing to the bubble makes no trip.
//
//   - [Serve] serves one test process, from its greeting to the end of its input;
//   - runner makes what one job asks for: runs of a seed, a trace, or picks to be tried;
//   - configuration is what a seed draws of its circumstances;
//   - world is one run; remote is its bubble as seen from here; body is the test's body, and the asks are what it may want;
//   - gate collects requests, process is a process of the test's.
//
// A test process that dies in the middle of a run costs nothing but that run: the engine writes its trace and the line that repeats it to
// stderr, and ends.
//
// What may not be done here: run anything of the user's, read the environment, or draw random numbers from anything but the kernel's streams.
package world
