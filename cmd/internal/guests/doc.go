// Package guests builds guests, which hold a release of client-go at the other end of a pipe (package subjects/clientgo/pipe), and makes
// subjects of them.
//
// A guest is a module that is written into the user's cache: this module's own files (informersim.GuestSources) and a go.mod that names the
// release. The go command builds it, from its module cache or proxy. It is kept by release, sources and version of Go.
//
// A working copy of client-go is a folder that somebody edits. The go command is asked each time whether anything has changed (copy.go).
//
// Releases whose controller does not look at a context before it takes from the queue are built from a copy with one line more:
// see gate.go. Nothing else of client-go is changed, in any release.
//
// What may not be done here: know what releases have (package releases), or run anything.
package guests
