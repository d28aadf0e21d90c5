package sim

import "time"

// A Record is one observed event of a run. It is passed by pointer and valid only during the call: an observer that keeps
// one must copy it.
type Record struct {
	Step   uint64        // the step it was emitted in, from 1; 0 during setup
	At     time.Duration // virtual time since the start of the run
	Actor  ActorID       // who emitted it
	Kind   Kind          // what it reports
	Key    string        // the object's key, if it is about one
	RV     int64         // a revision, if it is about one
	N      int64         // a number whose meaning depends on the kind (a count, a request, a delay in ns)
	Detail string        // a word or a sentence, stable between runs
	Note   string        // what else a reader of the trace should know; neither the hash nor a replay looks at it

	// Obj and Old are the objects it is about, for observers in the same process. They are not in the trace.
	Obj, Old any
}

// StepInfo describes a completed step to an observer.
type StepInfo struct {
	Step   uint64
	At     time.Duration
	Choice Choice
	Draws  []uint64 // random numbers drawn during the step; valid only during the call
	Hash   uint64   // the chained hash up to and including this step
}

// An Observer sees a run as it happens.
type Observer interface {
	// Record is called for every record, in order.
	Record(r *Record)
	// StepEnd is called after each step, once its choice has been applied.
	StepEnd(s *StepInfo)
}
