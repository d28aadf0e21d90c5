// Package subjects defines the interface between a scenario and an informer stack under test, whichever engine runs it.
//
// A [Kind] is a stack with its engine. Package subjects/stack has that of our own stepped stack (the step engine), package
// subjects/clientgo that of unmodified client-go (the bubble engine); package subjects/kinds lists them. All of them emit the
// records whose kinds are listed here, so that properties, reports and comparisons need not know which one ran.
//
// What may not be done here: anything specific to one stack. Adapters live in the packages below.
package subjects
