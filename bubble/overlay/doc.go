// Package overlay makes Go's runtime repeatable: it writes an overlay for `go test -overlay` that has goroutines of a seeded
// testing/synctest bubble follow a seed in everything that Go leaves open.
//
// A seed decides, inside of such a bubble, where the iteration of a map begins, which of several ready cases a select takes, in
// which order timers of one instant fire, and what math/rand/v2 draws. Goroutines are not preempted for having run for 10 ms,
// nothing real reorders those that wait to run, and hashes of strings are the same in every process. Outside of seeded bubbles
// Go behaves as it always does, but for the seeds of its maps' hashes.
//
// The overlay is made from the sources of the very toolchain that it is for, by a table of edits. It changes no file of the
// toolchain, and nothing where -overlay is not given. The package that seeds bubbles, package bubble, declares
//
//	//go:linkname bubbleSeed runtime.bubbleSeed
//	var bubbleSeed uint64
//
// which is not 0 in a program that was built with the overlay, and sets it before the bubble is made.
//
// What may not be done here: change what Go's specification promises, or guess. An edit whose place is not found as expected
// is an error.
package overlay
