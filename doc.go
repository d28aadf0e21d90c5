// Package informersim is deterministic simulation testing for Kubernetes informers and the controllers built on them.
//
// This package has nothing but sources that are compiled elsewhere. The command is cmd/informersim; a Go test starts at simtest; the parts are sim (the kernel),
// fakeapiserver, informer, subjects, scenarios, properties and reports, each with a doc.go that says what it owns and what
// may not be done in it.
package informersim
