// Package mutation shows that the properties bite: it puts defects into the source of the stack, of client-go or of the fake
// server, one at a time, and explores each such program until a property breaks.
//
// It also puts defects into Kubernetes' own controllers (controllers.go), and has the tests of wild/kubernetes look for them, with and without their own invariants.
//
// It owns the format of mutants (properties/mutants/*.txtar, wild/kubernetes/mutants/*.txtar), their application with `go build -overlay` (many in one program: see
// schema), the processes that run them (driver/), and the table of what killed them. No file of the repository or of the module
// cache is changed: the overlay is the only place where a mutant exists.
//
// What may not be done here: know a particular mutant, decide what a property is, or compare with another implementation. What a
// mutant breaks is found by exploration alone.
package mutation
