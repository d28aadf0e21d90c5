// Package simtest runs a controller, unmodified, against a deterministic apiserver from a normal Go test.
package simtest
