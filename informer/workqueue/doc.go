// Package workqueue implements the work queues as data structures that the caller steps: nothing in it waits.
//
// [Queue] is the plain queue (one entry per item, no item handed out twice at once), [Waiting] holds the items that are not
// yet due, [DelayingQueue] combines the two, and [RateLimitingQueue] is a delaying queue whose delays come from a
// [RateLimiter]. Where client-go's queues block in Get, these offer [Queue.TryGet]; where those sleep, these report
// [DelayingQueue.NextDeadline] and take the time from the caller. Package dropin/workqueue wraps them in a lock, a
// condition and a timer, which makes them client-go's util/workqueue; a simulator steps them directly.
//
// The package owns the order of items, deduplication, the shutdown states, delays, and the arithmetic of the rate limiters.
// It implements behaviours I94 to I99 of docs/spec/informer.md.
//
// It may not start a goroutine, use a channel or a lock, read a clock, draw a random number, or expose map order. Two
// queues given the same calls always give the same answers.
package workqueue
