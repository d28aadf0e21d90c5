// Package workqueue is a drop-in replacement for k8s.io/client-go/util/workqueue: it has the same exported names and
// signatures, with its own queues, rate limiters and parallelizer. To migrate, change the import path.
//
// A queue hands out items in order of arrival; an item added several times before it is taken is handed out once; an item
// is never handed out twice at the same time; an item added while it is being processed is handed out again after its Done.
// Any number of goroutines may use a queue.
//
// Package informer/workqueue, which is stepped and never waits, implements the behaviour. This package owns what a step
// cannot have: the lock, the condition that Get waits on, the goroutine that sleeps until a delayed item is due, and the
// metrics. Interfaces and configuration types are aliases of client-go's, so that queues of either package fit where the
// other's are expected.
//
// This package may not make decisions about order, deduplication or delay that informer/workqueue could make, nor start a
// goroutine that outlives the queue's shutdown.
//
// It deliberately differs from client-go only where client-go blocks or panics: AddAfter never blocks (client-go's does
// once 1000 calls are unread); any number of callers may wait in ShutDownWithDrain (client-go releases one); a second
// ShutDown of a delaying queue ends a drain that began after the first; ParallelizeUntil treats a negative count as 0.
package workqueue
