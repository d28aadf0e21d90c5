// Package tidy holds no code, only the test that keeps the source in order: core packages deterministic, imports as
// permitted, files and functions short, numbers of docs/spec cited as they are defined, words, paths and files that do not belong
// here absent.
//
// Its tables (which packages are core, who may import whom, what is excepted and why) are the place to look when it fails.
// An exception that is no longer needed fails too.
package tidy
