// Package shrink reduces a list that makes something fail to a shorter one that still does: the commands of a scenario, the
// requests of a sequence, the picks of a run.
//
// It owns the search, which is delta debugging: chunks first, from half of the list down, then single elements
// until none can be spared. What an element is, and whether a shorter list still fails, is the caller's.
//
// What may not be done here: know what is reduced, read a clock, or draw random numbers. The same list and the same answers
// give the same result.
package shrink
