// Package blackbox keeps what a process does where it survives the process: a file that grows as a run goes on, and a second process,
// the monitor, that speaks when the first one dies during a run. A program in a run cannot be kept from panicking on a goroutine of its
// own, from calling os.Exit or log.Fatal, or from running into the time limit of its test; Go then ends the process without a word of
// what was being run. The monitor is the same executable, and knows of the end because its pipe is closed.
//
// The package imports only the standard library, so that the monitor, which ends in this package's init, never gets to initialise
// what a program links in. It knows the form of a trace's lines only as far as to find the last one.
package blackbox
