package sim

import "time"

// Record is one observed line of a run. It is passed by pointer and valid only during the call: an observer that keeps
// one copies it.
type Record struct {
	Step   uint64        // the step it was emitted in, from 1; 0 is the setting up
	At     time.Duration // virtual time since the start of the run
	Actor  ActorID       // who emitted it
	Kind   Kind          // what it tells
	Key    string        // the object's key, if it is about one
	RV     int64         // a revision, if it is about one
	N      int64         // a number whose meaning belongs to the kind (a count, a request, a delay in ns)
	Detail string        // a word or a sentence, stable between runs

	// Obj and Old are the objects that it is about, for observers in the same process. They are in no trace.
	Obj, Old any
}

// StepInfo is what an observer learns when a step is over.
type StepInfo struct {
	Step   uint64
	At     time.Duration
	Choice Choice
	Draws  []uint64 // random numbers drawn during the step; valid only during the call
	Hash   uint64   // the chained hash up to and including this step
}

// Observer sees a run as it happens.
type Observer interface {
	// Record is called for every record, in order.
	Record(r *Record)
	// StepEnd is called after each step, when its choice has been applied.
	StepEnd(s *StepInfo)
}
