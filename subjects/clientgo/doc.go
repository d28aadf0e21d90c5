// Package clientgo is the bubble engine: client-go's unmodified SharedIndexInformer as actors of a kernel. What of it is inside the
// bubble is package gates, behind the interface [Side].
//
// A run happens inside a bubble (package bubble, see [Host]), on the goroutine that steps the kernel. client-go's goroutines and
// timers live in the bubble too. After every step they are quiescent, each at one of the gates that client-go's exported API
// allows for:
//
//   - requests: its ListerWatcher parks every List and Watch, and the kernel's side sends it to the fake apiserver. Answers
//     and frames come back by the server's choices respond and deliver. Retries are those of a REST client (informer.RESTRetry).
//
//   - the queue: the informer's context parks the controller's loop where that checks whether the context is done, before
//     it takes anything from the queue and while it holds no lock. Releasing it once is the choice pop.
//
//   - handlers: each blocks in its callback until the choice handle is picked.
//
//   - workers: each goroutine waits before it takes a key from client-go's work queue, and inside every reconcile, until
//     the choices take and finish. Keys that become ready are observed through the queue's own order (workqueue.Queue).
//
// Beside its gate, each handler has a filter of client-go's with functions behind it, and every other handler is added by the typed interface, so
// that these are in each run, too. A call that waits for client-go's goroutines has a goroutine of its own: if it does not return once the others
// rest, or the controller's loop is not back at its gate, the run ends there (gates/blocking.go).
//
// After each choice the kernel waits (sim.Kernel.OnApplied) until the bubble is quiescent, and what the goroutines did is
// noted in canonical order: by informer, and within one by the order below. Time passes in the bubble only when the kernel
// applies advance: the two clocks are one (sim.Clock.Share).
//
// # What Go leaves open
//
// client-go iterates over maps: a relist queues its tombstones, a resync its objects, and a late handler is replayed the store, in
// no particular order. Such a part of the queue is popped by one choice, and its notifications are sorted by key, which is one of
// the possible orders. Everything else keeps client-go's order.
//
// A call that a scenario makes slow or panic blocks or panics inside client-go. If it was let through because its notification has
// no order, its slowness, and the backoff of a second after a panic, are imitated (backoff.go).
//
// The queue's length and keys are read by reflection, and only while the bubble is quiescent. Nothing in client-go is written to.
//
// # Interleaved runs
//
// In a program that is built with the overlay of Go's runtime (package bubble/overlay), the seed can interleave client-go's goroutines
// between two rests ([Kind] has such a host). Order then counts where it does not otherwise: a handler says what the Indexer held when it
// was called, reconciles can end in one step and are told in the order in which they asked the limiter, and some goroutines that an informer
// starts begin only after its first pop. Other runs know nothing of that.
//
// # Process-wide state
//
// A bubble seeds, replaces and silences state that every program in it shares with the process (package bubble). This package adds
// client-go's feature gates, which choose the queue and the watch-list, and the handling of panics that a scenario injects. So
// runs of this subject in one process are serialized.
//
// What may not be done here: make decisions that are client-go's, block the kernel's goroutine on anything but
// quiescence, or let time pass outside of advance.
package clientgo
