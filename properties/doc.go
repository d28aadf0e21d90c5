// Package properties holds the properties: named checks over the records of a run, each of which reports the first step at
// which it is broken, what was expected, what was seen, and the steps that prove it.
//
// Properties see records and the state that a subject shows to its users; they know no stack from inside, so the same ones
// serve every subject. Their work per record is proportional to the record, not to the world.
//
// A file is one property, named after it. What several of them follow is in a tracker: work_queue_tracker.go and others of
// that name.
//
// What may not be done here: change the world, draw random numbers, or keep a record beyond its call.
package properties
