// Package beside runs Kubernetes' controllers in a process beside the engine of a Go test, in a bubble of their own for each run. The engine says when time
// passes and what the apiserver answers, as it does to a test's process, so a run with them is as deterministic as without: the process has to be built with the
// overlay of Go's runtime, by which it also knows when the next timer is due.
package beside
