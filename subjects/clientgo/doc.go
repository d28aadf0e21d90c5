// Package clientgo is the bubble engine: client-go's SharedIndexInformer, its code as it is, as actors of a kernel.
//
// A run happens inside a bubble (package bubble, see [Host]), on the goroutine that steps the kernel. client-go's goroutines and
// timers live in the bubble too. After every step they are quiescent, at one of the gates that client-go's own exported API has
// room for:
//
//   - requests: its ListerWatcher parks every List and Watch, and the kernel's side sends it to the fake apiserver. Answers
//     and frames come back by the server's choices respond and deliver. Retries are those of a REST client (core.RESTRetry).
//
//   - the queue: the context that the informer runs with parks the controller's loop where it asks whether it is done, before
//     it takes anything from the queue and holding no lock. Letting it go once is the choice pop.
//
//   - handlers: each blocks in its callback until the choice handle is picked.
//
//   - workers: each goroutine waits before it takes a key from client-go's work queue, and inside of every reconcile, until
//     the choices take and finish. What becomes ready shows through the queue's own order (workqueue.Queue).
//
// After each choice the kernel waits (sim.Kernel.OnApplied) until the bubble is quiescent, and what the goroutines did is
// noted in canonical order: by informer, and within one by the order below. Time passes in the bubble only when the kernel
// applies advance: the two clocks are one (sim.Clock.Share).
//
// # What Go leaves open
//
// client-go walks maps: a relist queues its tombstones, a resync its objects, and a late handler is replayed the store, in
// no particular order. Such a part of the queue is popped by one choice, and what handlers hear of it is put in the order
// of the keys, which is one of the orders that can happen. Everything else has the order that client-go gave it.
//
// A call that is slow or panics because the scenario says so takes its time, or panics, in client-go. Where it was let through,
// because what it tells of has no order, that and the pause of a second that follows a panic are imitated (pause.go).
//
// The queue is looked at, by reflection and only while the bubble is quiescent, for its length and its keys. Nothing of client-go
// is written to.
//
// # Process-wide state
//
// A bubble seeds, replaces and silences what every program in it shares with the process (package bubble). This package adds
// client-go's feature gates, which choose the queue and the watch-list, and what happens to a panic that the scenario orders. So
// runs of this subject follow one another in a process.
//
// What may not be done here: decide anything that client-go decides, block the kernel's goroutine on anything but
// quiescence, or let time pass outside of advance.
package clientgo
