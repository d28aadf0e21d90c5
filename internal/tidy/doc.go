// Package tidy has only tests, which enforce the rules of the source: core packages are deterministic, imports are permitted,
// files and functions short, citations of docs/spec defined, and stray words, paths and files absent.
//
// When a test fails, look at the tables (which packages are core, what each may import, exceptions and their reasons). An
// exception that is no longer needed fails too.
package tidy
