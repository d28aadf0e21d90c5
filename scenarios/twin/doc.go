// Package twin looks for the nearest run that passes: the run that breaks a property with one thing changed, and the first difference that
// this makes. Where a schedule was explored, a fault does not happen, or a step comes later; in a transcript, a command is missing.
//
// It owns what may be changed, and in which order that is tried: what happened last first, so that the two runs are the same for as long as
// possible. The same run and budget give the same twin. It decides nothing about what is reported of it: that is package reports'.
package twin
