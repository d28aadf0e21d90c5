package subjects

// Kind is a kind of subject: an informer stack and the engine that runs it. The zero value is none.
type Kind struct {
	// Name is what traces and command lines call it, e.g. "stack".
	Name string
	// Engine is the engine that runs it: "step" or "bubble".
	Engine string
	// New makes the subject of a run.
	New Factory
	// Host makes what a run needs around it; nil if it needs nothing.
	Host Host
}

// Factory makes a subject in a world.
type Factory func(Env) Subject

// Host makes what a run needs around it, such as a bubble for goroutines, and calls run, the whole run of that seed, inside. An
// error says that this failed; run reports its own errors.
type Host func(seed uint64, run func()) error
