// Package workqueue is a drop-in for k8s.io/client-go/util/workqueue: the same exported names and signatures, with queues,
// rate limiters and the parallelizer of its own. Changing the import path is the whole migration.
//
// A queue hands out items in order of arrival; an item added several times before it is taken is handed out once; an item
// is never handed out twice at the same time; an item added while it is being processed is handed out again after its Done.
// Any number of goroutines may add and take.
//
// The behaviour is in package informer/workqueue, which is stepped and never waits. This package owns what a step cannot have: the lock,
// the condition that Get waits on, the goroutine that sleeps until a delayed item is due, and the metrics. Interfaces and
// configuration types are aliases of client-go's, so that queues of either package fit where the other's are expected.
//
// What may not be done here: decide anything about order, de-duplication or delay that it could decide; start a
// goroutine that outlives the queue's shutdown.
//
// Where it differs from client-go on purpose, each time where client-go blocks or panics: AddAfter never blocks (client-go's
// does once 1000 calls are unread); any number of callers may wait in ShutDownWithDrain (client-go lets one go); a second
// ShutDown of a delaying queue ends a drain that began after the first; ParallelizeUntil takes a negative count for none.
package workqueue
