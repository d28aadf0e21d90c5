// Package stall notices that a step of a run does not end: that a stack without goroutines loops for ever. Stacks with goroutines have the watchdog
// of package bubble.
//
// It owns the goroutine on which such a run is made, and the real time that a step may take. It must know nothing of the run but where its
// steps end, and what it does with one that hangs is to give it up: nobody can stop the goroutine.
package stall
