// Package shrink reduces a failing list to a shorter one that still fails: the commands of a scenario, the requests of a
// sequence, the picks of a run.
//
// It owns the search, which is delta debugging: chunks first, from half of the list down, then single elements until none can
// be removed. The caller decides what an element is, and whether a shorter list still fails.
//
// What may not be done here: interpret elements, read a clock, or draw random numbers. The same list and the same answers give
// the same result.
package shrink
