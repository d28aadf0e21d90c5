// Package bubble runs a simulation inside a testing/synctest bubble: goroutines, timers and a virtual clock that a kernel
// (package sim) steps. It serves the subject client-go and package simtest, whose controllers are programs with goroutines.
//
// The package owns
//
//   - the host: [Run] makes a bubble for each run, one after the other, inside or outside of a test;
//
//   - process-wide state during a run: math/rand's global source and crypto/rand follow the seed, klog and apimachinery's error
//     handlers are silent. All of it is restored afterwards. [Options.TakeOver] adds what one kind of program needs;
//
//   - the watchdog, which ends a run if a step does not become quiescent ([StuckError]). Nothing else uses real time;
//
//   - the report of goroutines that a run leaked ([LeakError]);
//
//   - the seeded runtime: in a program built with the overlay of package bubble/overlay, the bubble's seed decides what Go leaves
//     open ([Seeded]), and interleaves its goroutines if a run asks for it ([Options.Interleave]).
//
// A program in the bubble calls [Enter] with its kernel, and steps that kernel on the goroutine on which Run calls its function.
// After each step it waits for quiescence with [Bubble.Quiesce]; when the kernel advances its clock, it lets as much time pass in
// the bubble with [Bubble.Pass].
//
// What may not be done here: depend on what runs in the bubble. The package imports nothing of this module: a copy of it is part of
// the module simtest (see internal/tidy/mirrors_test.go).
package bubble
