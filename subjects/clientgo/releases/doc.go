// Package releases is the table of client-go's releases that a guest can be built with: what each has, and since when.
//
// A working copy has what the newest release has whose signs are in its files (copy.go).
//
// What may not be done here: guess. A minor release that nobody has looked at is not in the table.
package releases
