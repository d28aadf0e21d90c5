// Package stack is the step engine: our own informer stack (package informer) as actors of a kernel. Every inner
// step is a choice of its own: the arrival of an answer or a frame (the connection's choices), a pop of the queue, a call of
// a handler, the end of a backoff. They interleave in every legal order, without a goroutine.
//
// The package owns the wiring between the core's state machines and the kernel, and the records that properties see. It
// may not make decisions that are the core's: missing informer behaviour belongs there.
package stack
