package subjects

import "slices"

// Kind is a kind of subject: an informer stack and the engine that runs it. The zero value is none.
type Kind struct {
	// Name is its name in traces and on command lines, e.g. "stack".
	Name string
	// Engine is the engine that runs it: "step" or "bubble".
	Engine string
	// Queues are the queues that its informers can have.
	Queues []Queue
	// Lacks are the features that it does not have, each with a sentence that says why; nil if it has all.
	Lacks map[Feature]string
	// New creates the subject of a run.
	New Factory
	// Host provides a run's environment, such as a bubble; nil if it needs none.
	Host Host
	// Watch watches over a run without a Host, whose steps might not end; nil if nobody does.
	Watch Watch
	// Interleaved is Host for runs in which the seed interleaves the stack's goroutines; nil if it has none, or if this program cannot do that:
	// NotInterleaved then says why, and what to do about it.
	Interleaved    Host
	NotInterleaved string
	// Many returns Host or Interleaved for one of many runs, most of which are expected to hang as another one has: it ends those sooner, and others can follow.
	// What such a run shows has to be shown once more, by another process. It is nil if Host does for that, too.
	Many func(interleave bool) Host
}

// OfMany returns the kind as it is for one of many runs, most of which are expected to hang.
func (k Kind) OfMany() Kind {
	if k.Many == nil {
		return k
	}
	if k.Interleaved != nil {
		k.Interleaved = k.Many(true)
	}
	k.Host = k.Many(false)
	return k
}

// CommonQueues returns the queues that informers of all these kinds can have, in the order of the first.
func CommonQueues(kinds ...Kind) []Queue {
	var common []Queue
	for n, k := range kinds {
		if n == 0 {
			common = slices.Clone(k.Queues)
			continue
		}
		common = slices.DeleteFunc(common, func(q Queue) bool { return !slices.Contains(k.Queues, q) })
	}
	return common
}

// Factory creates a subject.
type Factory func(Dependencies) Subject

// Host sets up a run's environment, such as a bubble for goroutines, and calls run, the whole run of that seed, inside it. It
// returns an error if the environment fails, a *Failure if that is the fault of the stack under test; run reports its own errors.
type Host func(seed uint64, run func()) error

// Watch calls run, the whole run of a seed, which calls stepped after each step, and returns when it has ended. It returns a *Failure of kind Hung
// once a step does not end: what run was doing then goes on for good, but the run does not get beyond the step.
type Watch func(run func(stepped func())) error
