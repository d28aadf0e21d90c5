// Package generate makes scenarios out of decisions: the seeded ones of a run, a fuzzer's bytes, or those of a
// property-testing library, which can then make a failing scenario smaller.
//
// It owns the model that keeps a scenario one that can be carried out: which objects, informers, handlers and workers there
// are when a command's turn comes. The same decisions give the same text, byte for byte, so that a seed names a scenario.
//
// What may not be done here: run a scenario, know a subject or a property, or say what must come of a scenario.
package generate
