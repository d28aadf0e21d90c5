// Package workers is the common part of a controller's workers, whichever engine runs them: when a worker may take a key from its
// work queue, how long a reconcile takes and how it ends, and the records of all of these.
//
// The queue, and the loop that a worker runs over it, are the engine's: see [Queue]. Taking a key and ending a reconcile are
// separate choices, so workers, handlers and the informer interleave in every order.
//
// What may not be done here: make decisions that are a work queue's.
package workers
