// Package upstream runs client-go's own tests against the drop-in packages.
//
// The tests come from the client-go in go.mod when the check runs; no copies are kept here. [Extract] selects those that use
// only exported names, directly and through every helper, or inspect internals that an adapter can provide in the same form
// (window.go). It rewrites them into an external test package that imports the drop-in instead. [Run] passes the result to
// the go command as an overlay, so that nothing is written next to the sources, and counts the results. Tests that give the code
// a fraction of a second of real time run in a synctest bubble (bubble.go).
//
//	go test ./...                      # in this directory: extract, run, compare with the tests that must pass
//	go run ./cmd/upstreamtests -v      # the same, with every test's name and the reasons for skipping the others
//
// Code here must not keep a copy of an upstream test or change what a test checks.
package upstream
