// Package differential runs one scenario on two subjects and compares, at every quiescent point, their requests to the apiserver,
// the notifications of their handlers, and their contents. If they differ, one of them is wrong, unless the difference is [Allowed]
// for a reason.
//
// A comparison is meaningful only if both are driven alike: under the strategy fifo time passes and the server answers in the same
// way for both, and both draw the same backoffs and watch timeouts (subjects.Draws). One engine may take two steps where the other
// takes one, so everything between two quiescent points is compared as a whole, and at any instant workers begin only after
// everything else has happened (scenarios.Options.WorkersLast).
//
// What may not be done here: know a subject's internals, or compare what depends on the number of steps.
package differential
