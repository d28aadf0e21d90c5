package subjects

import (
	"time"

	"github.com/informersim/informersim/sim"
)

// Kinds of records of a controller's workers. The actor is a worker ("w1/0"), or all of them together ("w1").
var (
	// KindWorkers: "added" to an informer, Obj the WorkersSpec and Key the name of their handler ("i1/w1"); "started" when the handler
	// has synced; "stopping" when their queue shuts down, "draining" if somebody waits for it to drain, and "drained" when that is over;
	// "stopped" when the last of them has ended.
	KindWorkers = sim.RegisterKind("workers", sim.ClassRecord)
	// KindEnqueue: the handler has added a key to the queue. Key.
	KindEnqueue = sim.RegisterKind("enqueue", sim.ClassRecord)
	// KindReady: a key in the queue became ready. Key.
	KindReady = sim.RegisterKind("ready", sim.ClassRecord)
	// KindReconcile: a worker has taken a key and reconciles it. Key; RV of the object in the Indexer at that time, 0 for none.
	KindReconcile = sim.RegisterKind("reconcile", sim.ClassRecord)
	// KindReconciled: a reconcile has ended. Key; Detail one of the constants below; N nanoseconds until the key is retried, -1 if it
	// is not.
	KindReconciled = sim.RegisterKind("reconciled", sim.ClassRecord)
	// KindPanic: a handler's call panicked. Key.
	KindPanic = sim.RegisterKind("panic", sim.ClassRecord)
)

// Details of KindWorkers.
const (
	WorkersAdded    = "added"
	WorkersStarted  = "started"
	WorkersStopping = "stopping"
	WorkersDraining = "draining"
	WorkersDrained  = "drained"
	WorkersStopped  = "stopped"
)

// Details of KindReconciled.
const (
	ReconcileOK              = "ok"
	ReconcileFailed          = "failed"
	ReconcilePanicked        = "panicked"
	ReconcileFailedForGood   = "failed, given up"
	ReconcilePanickedForGood = "panicked, given up"
)

// WorkersSpec describes the workers of a controller: an event handler adds the keys of an informer's notifications to a
// rate-limited work queue, and each worker takes one key at a time from it.
type WorkersSpec struct {
	Name   string
	Count  int           // how many workers; at least 1
	Resync time.Duration // of the event handler; 0 for none
	// Base and Max are the first and the longest delay of an exponential limiter; both 0 for the default limiter (I99).
	Base, Max time.Duration
	// Retries is the number of retries in a row after which a key is given up; 0 for never.
	Retries int
	// Crash lets a panic escape from the worker's loop: the key is not retried, and the worker backs off for a second. Without it a
	// panic is an error like any other.
	Crash bool
	// Waits has an idle worker wait in the queue's Get, which is a choice of its own, and take the next key in the step in which it becomes ready.
	// Without it no worker calls Get before there is a key.
	Waits bool
}

// Workers are the workers of one controller.
type Workers interface {
	// Spec returns the spec they were created from.
	Spec() WorkersSpec
	// InjectFault starts a fault in later reconciles.
	InjectFault(CallFault)
	// ClearFaults ends all faults.
	ClearFaults()
	// Hold keeps the workers from taking keys until Release; reconciles in flight continue, and a worker that waits in Get gets its key.
	Hold()
	Release()
	// Stop shuts the queue down: keys that are ready are still reconciled, keys that are delayed are lost (I95, I97). It is
	// idempotent.
	Stop()
	// Drain is Stop for somebody who waits until no key is being reconciled, however many are ready (I96). A Stop ends that wait.
	Drain()
	// Waiting returns the number of workers that wait in Get.
	Waiting() int
	// Ended returns the number of workers that have ended, since Get told them that the queue is shut down and empty.
	Ended() int
	// Queued returns the number of keys that are ready to be taken.
	Queued() int
	// Busy reports whether any key is queued, being reconciled, or waiting for a retry.
	Busy() bool
}
