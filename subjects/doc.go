// Package subjects says what an informer stack under test looks like to a scenario, whichever engine runs it.
//
// A [Kind] is a stack with its engine. Package subjects/stack has that of our own stepped stack (the step engine), package
// subjects/clientgo that of unmodified client-go (the bubble engine); package subjects/kinds lists them. All of them emit the
// records whose kinds are listed here, so that properties, reports and comparisons need not know which one ran.
//
// What may not be done here: anything with a stack in particular. Adapters live in the packages below.
package subjects
