// Package museum shows the historical bugs of docs/spec/bugs.md: each as a scenario that a property finds with the bug put back, and
// that passes without it.
//
// It owns the table of exhibits, the verdict on each, and the pages of docs/museum. The defects themselves are those of
// properties/mutants, built by package mutation; the scenarios are those of the catalogue.
//
// What may not be done here: judge a run. What counts is that the named property breaks, not that a transcript differs.
package museum
