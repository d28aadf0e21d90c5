// Package sim is the kernel: a run is a list of choices.
//
// Everything that could happen next is an explicit [Choice] that an [Actor] offers. A [Strategy] picks one, the [Kernel] has
// its actor apply it, and the [Record]s that the actor emits are the run as an observer sees it. The list of picks, with the
// random numbers drawn, is the trace; replaying a run is replaying that list.
//
// The package owns virtual time ([Clock]), random numbers ([Stream]), the order of choices (the ready set inside Kernel),
// the chained hash of a run, and the trace file ([TraceWriter], [TraceReader]).
//
// Code here must not start a goroutine, read the real clock, use a global random source, let map order reach a choice, a
// record or a draw, or know anything of Kubernetes. A test walks the source and enforces the first four.
package sim
