// Package outfile writes the files that users ask for, so that nothing of theirs is lost.
//
// A file is written beside its target and renamed when it is complete: a full disk, an error or Ctrl-C leaves what was there
// before. What the user gave as input is never replaced, and other files only if they are of the kind that is written. Devices
// and FIFOs are written to directly. A program that is killed leaves a hidden file beside the target, .informersim-*.
//
// It decides nothing about what is written. Files in folders that the program owns, such as a cache, need none of this.
package outfile
