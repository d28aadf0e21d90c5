// Package reports is the room for everything that is said of a run: a [Violation] with its [Evidence], the [Story] of what
// happened, the verdict of a [Run] as text and as JSON, the sums of an [Ensemble], and the [Difference] of two runs. The command
// and package simtest print through it, so that a run reads the same everywhere.
//
// A report is made from what a run counted and from its trace, so equal runs give equal reports, byte for byte.
//
// What may not be done here: run anything, know a scenario or a server, or look at a clock, the environment or the terminal.
package reports
