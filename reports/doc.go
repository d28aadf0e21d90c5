// Package reports renders runs for people: what a terminal shows of a finding now; files for browsers and tools later.
//
// A report is made from the trace and nothing else, so equal traces give equal reports, byte for byte.
//
// What may not be done here: run anything, or look at a clock, the environment or the terminal (the command does that).
package reports
