// Package stack is the step engine: our own informer stack (package informer) as actors of a kernel. Every inner
// step is a choice of its own: an answer or a frame that arrives (the connection's choices), a pop of the queue, a call of
// a handler, the end of a wait. So they interleave in every order that is legal, without a goroutine.
//
// The package owns the wiring between the core's state machines and the kernel, and the records that properties see. It
// may not decide anything that the core decides: a behaviour of an informer that is missing belongs there.
package stack
