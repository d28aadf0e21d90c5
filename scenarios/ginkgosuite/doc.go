// Package ginkgosuite makes Ginkgo specs of scenario files, in any module:
//
//	var _ = ginkgosuite.Register("sims/*.sim", ginkgosuite.Options{})
//
// Each file is a container with a spec for each subject, labelled with the faults in it, the components that it needs and the historical bugs
// that it cites. A spec that fails prints the verdict; its report entries are the trace of the run and the line that replays it.
//
// With Ginkgo and client-go, which a test of informers has anyway, it adds some 60 packages to what a test compiles, and no server of sockets.
//
// What may not be done here: judge a run, or know a particular scenario.
package ginkgosuite
