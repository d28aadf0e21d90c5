// Package overlay makes Go's runtime deterministic: it writes an overlay for `go test -overlay` with which the seed of a
// testing/synctest bubble decides everything that Go leaves open there.
//
// In such a bubble the seed decides where the iteration of a map begins, which of several ready cases a select takes, in
// which order timers due at the same instant fire, and what math/rand/v2 draws. Goroutines are not preempted within a second, nothing
// outside the bubble reorders the run queue, and hashes of strings are the same in every process. Outside seeded bubbles Go
// behaves as usual, except for the seeds of its maps' hashes.
//
// Goroutines run in the order in which they were woken, and until they wait, as long as 16,384 of them at most can run at once. A bubble that is interleaved differs: before a lock, after an unlock, before
// a channel's send, receive, close or select, before a Cond's Signal or Broadcast and a WaitGroup's Wait, and after a go statement, a goroutine
// may give way, and whenever one stops, the seed picks the next of those that can run. One of four that give way lets all others run first. How often that happens is
// drawn anew after each synctest.Wait: at one half, one eighth or one in 32 of these points. A bubble is not at rest while a goroutine that has given way
// can run. This takes a single processor (GOMAXPROCS), and what else the seed draws stays the same. Atomic operations are no such points, nor are
// sync.Map and sync.Pool, what is a package variable, and what happens inside a sync.Once.
//
// A goroutine that waits for a sync.Mutex or sync.RWMutex keeps a bubble from becoming quiescent, since whoever has it might be outside the bubble. In a bubble
// that is made with bubbleLocksRest it does not, unless the lock is a package variable that nobody in the bubble has: one goroutine can have a lock while it sleeps
// or waits for an answer, as another waits for the lock. Package variables take a single processor, too.
//
// The overlay is made from the sources of the toolchain that it is for, by a table of edits. It changes no file of the
// toolchain, and has no effect without -overlay. The package that seeds bubbles, package bubble, declares
//
//	//go:linkname bubbleSeed runtime.bubbleSeed
//	var bubbleSeed uint64
//
// which is not 0 in a program built with the overlay, and sets it before it makes a bubble; and in the same way
//
//	//go:linkname bubbleInterleave runtime.bubbleInterleave
//	var bubbleInterleave bool
//
// which says whether that bubble is interleaved, and bubbleLocksRest likewise.
//
// What may not be done here: change what Go's specification promises, or guess. An edit whose place does not match as expected
// is an error.
package overlay
