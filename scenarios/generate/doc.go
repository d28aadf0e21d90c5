// Package generate makes scenarios out of decisions: those of a seed, a fuzzer's bytes, or those of a property-testing library,
// which can then shrink a failing scenario.
//
// It owns the model that keeps a scenario valid: which objects, informers, handlers and workers exist when a command runs. The
// same decisions give the same text, byte for byte, so that a seed names a scenario.
//
// What may not be done here: run a scenario, know a subject or a property, or say what a scenario must result in.
package generate
