// Package upstream runs client-go's own tests against the drop-in packages.
//
// The tests are taken from the client-go in go.mod when the check runs, and are not kept here. [Extract] picks those that
// use only what the package exports, directly and through every helper they need, or look at something inside that an adapter
// can give in the same form (window.go). It rewrites them into an external test package that imports the drop-in instead;
// [Run] hands the result to the go command as an overlay, so that nothing is written beside the sources, and counts.
//
//	go test ./...                      # in this folder: extract, run, compare with what must pass
//	go run ./cmd/upstreamtests -v      # the same with every test's name and why the others were left out
//
// What may not be done here: keep a copy of an upstream test, or change what one checks.
package upstream
