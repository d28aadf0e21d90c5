// Package catalogue is the list of conformance probes: the hand-written scripts of *.probe and the tables of matrix.go,
// which spell out every combination of list, get and watch parameters.
//
// It contains requests only. The answers are a real server's, recorded in ../testdata/golden.
package catalogue
