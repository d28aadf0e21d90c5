// Package workqueue holds the work queues as data structures that are stepped: nothing in it waits.
//
// [Queue] is the plain queue (one entry per item, no item handed out twice at once), [Waiting] the items whose time has
// not come, [DelayingQueue] the two together, [RateLimitingQueue] a delaying queue whose delays a [RateLimiter] sets.
// Where client-go's queues block in Get, these answer [Queue.TryGet]; where they sleep, these say
// [DelayingQueue.NextDeadline] and are told the time by the caller. Package dropin/workqueue wraps them in a lock, a condition and
// a timer, which makes them client-go's util/workqueue; a simulator steps them directly.
//
// What is owned here: the order of items, de-duplication, the shutdown states, delays, and the arithmetic of the rate
// limiters. Behaviours are I94 to I99 of docs/spec/informer.md.
//
// What may not be done here: start a goroutine, use a channel or a lock, read a clock, draw a random number, or let the
// order of a map be seen. Two queues given the same calls give the same answers, always.
package workqueue
