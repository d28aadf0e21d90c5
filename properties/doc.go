// Package properties holds the properties: named checks over the records of a run. Each reports the first step that breaks it,
// what was expected, what was seen, and the steps that prove it.
//
// Properties see records and the state that a subject shows its users, never a stack's internals, so they serve every subject.
// Their work per record is proportional to the record, not to the world.
//
// Each file is one property and is named after it. State that several properties follow is in a tracker (*_tracker.go).
//
// What may not be done here: change the world, draw random numbers, or keep a record beyond its call.
package properties
