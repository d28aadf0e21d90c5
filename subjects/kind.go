package subjects

// Kind is a kind of subject: an informer stack and the engine that runs it. The zero value is none.
type Kind struct {
	// Name is its name in traces and on command lines, e.g. "stack".
	Name string
	// Engine is the engine that runs it: "step" or "bubble".
	Engine string
	// New creates the subject of a run.
	New Factory
	// Host provides a run's environment, such as a bubble; nil if it needs none.
	Host Host
}

// Factory creates a subject.
type Factory func(Dependencies) Subject

// Host sets up a run's environment, such as a bubble for goroutines, and calls run, the whole run of that seed, inside it. It
// returns an error if the environment fails; run reports its own errors.
type Host func(seed uint64, run func()) error
