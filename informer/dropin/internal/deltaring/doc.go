// Package deltaring is the storage of an in-order queue: a FIFO of deltas with their keys. It is not safe for concurrent
// use, and knows nothing about the meaning of deltas.
package deltaring
