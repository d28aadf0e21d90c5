package generate

// Source is where a Generator takes its decisions from: a *sim.Stream, a fuzzer's bytes, a property-testing library.
type Source interface {
	// IntN returns a number in [0,n); n is positive.
	IntN(n int) int
}

func pick[T any](src Source, choices ...T) T { return choices[src.IntN(len(choices))] }
