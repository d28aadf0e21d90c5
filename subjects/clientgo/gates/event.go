package gates

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// Event is something that has happened in the bubble. Informers, their handlers, work queues and their workers have numbers, in the
// order in which they were made; which other fields are set depends on What.
type Event struct {
	What    What
	Of, Sub int // the informer and its handler, or the work queue and its worker
	ID      int64
	N       int64
	Flag    bool
	Call    Call
	Key     string
	Obj     any
	Old     any
	Options *metav1.ListOptions
	Passed  *Passed // of a handler's Call, what the filter in front of another handler let through; nil for the same call
}

// Passed is what a filter has let through of a call: N calls, of which the first are here.
type Passed struct {
	N     int
	Calls [2]PassedCall
}

// PassedCall is a call behind a filter, with the revisions of its objects.
type PassedCall struct {
	Call    Call
	RV, Old int64
}

// NotFiltered is Passed's N where there is no filter.
const NotFiltered = -1

// nothing is what a filter has let through of a call that it has stopped.
var nothing Passed

// What says what has happened.
type What byte

// What may happen.
const (
	Queued        What = 'q' // N entries are in an informer's queue now
	Unwoken       What = 'U' // something is queued now, and a Pop that waited for it would not have been woken
	Blocked       What = 'B' // a call of an informer, Key, does not return although nothing else goes on
	Synced        What = 's' // an informer has synced
	HandlerSynced What = 'S' // a handler's registration has synced
	Parked        What = 'p' // request ID waits to be sent: a watch if Flag is set, with Options
	Canceled      What = 'c' // request ID was given up
	Waits         What = 'w' // a request is to be sent again in N nanoseconds
	Unread        What = 'u' // request ID is a watch that is open, and nobody reads it
	Touched       What = 't' // the Indexer has removed or inserted Obj under Key
	Holds         What = 'h' // the Indexer holds Obj under Key now; nil for nothing
	Called        What = 'C' // a handler's Call waits. If Flag is set, the Indexer held Key at revision N when it came, and ID at most until then; now it holds another
	PassedBy      What = 'P' // a handler's Call was let through
	Late          What = 'L' // a handler's Call came after its removal
	Ready         What = 'r' // Key is ready in a work queue
	Length        What = 'l' // N keys are ready in a work queue now
	Drained       What = 'd' // whoever waited for a work queue to drain has waited long enough
	Worker        What = 'W' // a worker's state: Flag for idle, N its Doing bits, Key, ID the delay of its last retry
)

// The bits of a worker's N.
const (
	Ended   = 1 << iota // its loop is over
	GivenUp             // it has given up the last key

	// TurnShift is where the rest of N begins: which answer of the limiter its last retry was.
	TurnShift = iota
)

// Call is a sort of call of a handler.
type Call byte

// The sorts of calls.
const (
	Add Call = iota
	AddInitial
	Update
	Delete
	DeleteUnknown // with a DeletedFinalStateUnknown, of which Key and Obj are told
)

// Outcome is how a reconcile ends.
type Outcome byte

// The outcomes of a reconcile.
const (
	OK Outcome = iota
	Failed
	Panicked
)

// InformerSpec describes an informer.
type InformerSpec struct {
	Queue     string // delta, inorder or atomic; "" for client-go's default
	WatchList bool
	PageSize  int64 // 0 for the reflector's own rules
	Resync    time.Duration
	DropLabel string         // a label that it drops of every object; "" for none
	FailLabel string         // a label with which objects make its transform fail; "" for none
	Example   runtime.Object `json:"-"`
}

// QueueInfo says which queue an informer has.
type QueueInfo struct {
	Delta  bool          // a DeltaFIFO: one entry per key
	Atomic bool          // a RealFIFO whose relists and resyncs are one entry each
	Resync time.Duration // how often the reflector checks for a resync; 0 for never
}

// WorkersSpec describes a work queue and its workers.
type WorkersSpec struct {
	Count     int
	Base, Max time.Duration // both 0 for client-go's default limiter
	Retries   int
	Crash     bool // panics escape from the loop
}

// Answer answers a request: a list, a watch that is open, or an error.
type Answer struct {
	Items           []runtime.Object
	ResourceVersion string
	Continue        string
	Remaining       *int64
	Err             error
}
