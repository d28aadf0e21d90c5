// Package reports puts runs into words: a [Violation] with its [Evidence], the [Story] of what happened, the verdict of a [Run]
// as text and as JSON, the totals of an [Ensemble], and the [Difference] between two runs. The command and package simtest print
// through it, so that a run reads the same everywhere.
//
// A report is made from a run's counts and its trace, so equal runs give equal reports, byte for byte.
//
// Text of a script, a trace or a recording is printed as [Plain] text, and into a line to paste it goes through [ShellQuote].
//
// What may not be done here: run anything, know a scenario or a server, or look at a clock, the environment or the terminal.
package reports
