// Package subjects says what an informer stack under test looks like to a scenario, whichever engine runs it.
//
// Package subjects/stack adapts our own stepped stack (the step engine). Both it and the engine for unmodified client-go
// emit the records whose kinds are listed here, so that properties, reports and comparisons need not know which one ran.
//
// What may not be done here: anything with a stack in particular. Adapters live in the packages below.
package subjects
