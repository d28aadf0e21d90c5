// Package remote is the kernel's side of a guest: a process that holds client-go of some release in a bubble (package pipe). It starts the
// process, and is the side (clientgo.Side) on which a subject's client-go lives.
//
// A guest serves any number of runs, one after the other. It ends when its input does, so none outlives the program that started it.
//
// What may not be done here: build guests, or know what releases have.
package remote
