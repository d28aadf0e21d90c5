// Package workers is what the workers of a controller have in common whichever engine runs them: when a worker may take a
// key from its work queue, how long a reconcile takes and how it ends, and the records of all that.
//
// The queue, and the loop that a worker runs over it, are the engine's: see [Queue]. Every taking of a key and every end of
// a reconcile is a choice of its own, so workers, handlers and the informer interleave in every order.
//
// What may not be done here: decide anything that a work queue decides.
package workers
