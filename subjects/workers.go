package subjects

import (
	"time"

	"github.com/informersim/informersim/sim"
)

// Kinds of records of a controller's workers. The actor is a worker ("w1/0"), or all of them together ("w1").
var (
	// KindWorkers: "added" to an informer, Obj the WorkersSpec and Key the name of their handler ("i1/w1"); "started", when what
	// they wait for has synced; "stopping", when their queue shuts down; "stopped", when the last of them has ended.
	KindWorkers = sim.RegisterKind("workers", sim.ClassRecord)
	// KindEnqueue: the handler has added a key to the queue. Key.
	KindEnqueue = sim.RegisterKind("enqueue", sim.ClassRecord)
	// KindReady: the queue has a key to be taken. Key.
	KindReady = sim.RegisterKind("ready", sim.ClassRecord)
	// KindReconcile: a worker has taken a key and reconciles it. Key; RV of the object that the Indexer holds then, 0 for none.
	KindReconcile = sim.RegisterKind("reconcile", sim.ClassRecord)
	// KindReconciled: it has ended. Key; Detail one of the constants below; N nanoseconds after which the key is tried
	// again, -1 if it is not.
	KindReconciled = sim.RegisterKind("reconciled", sim.ClassRecord)
	// KindPanic: a handler's call has panicked. Key.
	KindPanic = sim.RegisterKind("panic", sim.ClassRecord)
)

// Details of KindWorkers.
const (
	WorkersAdded    = "added"
	WorkersStarted  = "started"
	WorkersStopping = "stopping"
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

// WorkersSpec describes the workers of a controller: an event handler adds the keys that an informer tells of to a rate
// limited work queue, and the workers take them from there, one key each at a time.
type WorkersSpec struct {
	Name   string
	Count  int           // how many workers; at least 1
	Resync time.Duration // of the event handler; 0 for none
	// Base and Max are the first and the longest delay of an exponential limiter; both 0 for the default one (I99).
	Base, Max time.Duration
	// Retries is after how many retries in a row a key is given up; 0 for never.
	Retries int
	// Crash says that a panic goes through the worker's loop: the key is not tried again, and the worker pauses for a second.
	// Without it a panic is an error like any other.
	Crash bool
}

// Workers are the workers of one controller.
type Workers interface {
	// Spec is what they were made from.
	Spec() WorkersSpec
	// InjectFault makes reconciles go wrong that begin from now on.
	InjectFault(CallFault)
	// ClearFaults ends all faults.
	ClearFaults()
	// Hold keeps the workers from taking keys until Release; what they have begun goes on.
	Hold()
	Release()
	// Stop shuts the queue down: what is ready is still worked on, what waits for its time is lost (I95, I97). It is idempotent.
	Stop()
	// Queued is how many keys are ready to be taken.
	Queued() int
	// Busy tells whether anything is queued, worked on, or waits to be tried again.
	Busy() bool
}
