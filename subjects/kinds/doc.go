// Package kinds lists the kinds of subjects, for programs that run a scenario on each of them.
//
// What may not be done here: anything else. A test that needs a stack with other parts creates a kind of its own.
package kinds
