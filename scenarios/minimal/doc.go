// Package minimal looks for the smallest run that still breaks the same property for the same reason: fewer commands, objects,
// handlers, faults and waits, and a schedule that is as orderly as possible, at best none at all, so that what is left
// fails as a transcript.
//
// It owns what may be tried. The search is that of package sim/shrink, and every result is that of an actual run. The same run
// and budget give the same result.
package minimal
