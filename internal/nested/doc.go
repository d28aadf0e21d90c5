// Package nested has the test that makes `go test ./...` cover modules with a go.mod of their own. A go.work would not do: it gives all
// modules one version of each library, and that they have different ones is the point of them.
package nested
