package subjects

import (
	"time"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/sim"
)

// Queue names the queue between reflector and indexer.
type Queue string

// The queues of the stack; client-go v0.37 has them too.
const (
	QueueDelta   Queue = "delta"   // DeltaFIFO (I44–I51)
	QueueInOrder Queue = "inorder" // RealFIFO (I52–I56)
	QueueAtomic  Queue = "atomic"  // RealFIFO with atomic events (I57–I61)
)

// Dependencies are the parts of the simulation that a subject uses.
type Dependencies struct {
	Kernel  *sim.Kernel
	Cluster *fakeapiserver.Cluster
	// Draws supplies backoffs and watch timeouts in a transcript. It is nil when schedules are explored: the subject then uses
	// sources of its own.
	Draws *Draws
}

// Subject is an informer stack under test.
type Subject interface {
	// AddInformer creates and starts an informer.
	AddInformer(InformerSpec) (Informer, error)
	// Restart starts an informer that was stopped again: another life of its name, with the same configuration, and with the handlers,
	// workers and indexes that it had when it was stopped. Holds and the faults of handlers' calls go on.
	Restart(stopped Informer) (Informer, error)
}

// InformerSpec describes an informer. Name and Resource are required.
type InformerSpec struct {
	Name      string
	Resource  store.ResourceID
	Queue     Queue         // "" for the subject's default
	Resync    time.Duration // check period and default of its handlers; 0 for none
	PageSize  int64         // WatchListPageSize; 0 for the reflector's own rules (I5)
	Namespace string        // "" for all
	Labels    string        // label selector
	Fields    string        // field selector
	WatchList bool          // try a streaming list first (I13)
	Transform Transform     // of every object before it is queued
	Handlers  []HandlerSpec
	// Policy picks the replicas that serve it.
	Policy fakeapiserver.Policy
}

// HandlerSpec describes an event handler.
type HandlerSpec struct {
	Name   string
	Resync time.Duration // 0 for none
}

// Informer is one informer of a subject.
type Informer interface {
	Name() string
	// Resource returns the resource that it watches.
	Resource() store.ResourceID
	// PageSize returns the page size of its lists that it was given, 0 for none.
	PageSize() int64
	// Selects reports whether it should hold obj, an object of its resource, by namespace and selectors.
	Selects(obj runtime.Object) bool
	// Transformed returns what it makes of an object before it queues it.
	Transformed(obj runtime.Object) runtime.Object
	// Refuses reports whether its transform fails for an object, which is then not queued (I112).
	Refuses(obj runtime.Object) bool
	// AddHandler adds a handler; one added after the start is replayed the store (I79).
	AddHandler(HandlerSpec) error
	// RemoveHandler removes a handler (I81).
	RemoveHandler(name string) error
	// Handlers returns the names of its handlers, in the order in which they were added.
	Handlers() []string
	// AddWorkers adds a controller's workers, with a work queue and a handler of the same name that fills it.
	AddWorkers(WorkersSpec) (Workers, error)
	// InjectFault starts a fault in a handler's later calls.
	InjectFault(handler string, f CallFault) error
	// ClearFaults ends the faults of all handlers.
	ClearFaults()
	// Hold blocks a part until Release: "queue" for the pop, or a handler's name.
	Hold(part string) error
	Release(part string) error
	// Stop stops it; it is idempotent.
	Stop()

	HasSynced() bool
	// LastSyncResourceVersion returns the reflector's.
	LastSyncResourceVersion() string
	// StoreResourceVersion returns its Indexer's (I70) with the atomic queue, and "" otherwise: with other queues it is that of the
	// object written last, and a resync writes in any order.
	StoreResourceVersion() string
	// Keys returns the keys of its Indexer, sorted.
	Keys() []string
	// Get returns the object that its Indexer holds under key.
	Get(key string) (runtime.Object, bool)
	// Len returns the number of objects in its Indexer.
	Len() int
	// AddIndex adds an index, and indexes what the Indexer holds (I73). It fails if there is one of that name, or the informer has
	// stopped.
	AddIndex(IndexSpec) error
	// Indexes returns the indexes that were added.
	Indexes() []IndexSpec
	// IndexValues returns the values of an index, and IndexKeys the keys of the objects under one of them; both are sorted.
	IndexValues(index string) []string
	IndexKeys(index, value string) []string
	// Passed returns what a filter in front of another handler has let through of the last call of a handler, if there is a filter.
	Passed(handler string) (p Passed, filtered bool)
	// Outcomes makes calls that it has to refuse, that change nothing, or that ask how far it is. It is for the end of a run: one that does what it
	// should not is not undone.
	Outcomes() []Outcome
	// Library makes calls of what the subject's library offers to controllers that have no informer for it, and returns those of which came what should
	// not. It is for the end of a run. What is called takes turns, by number; a subject that is no such library has nothing to call. One of which the calls
	// would take longer than a run leaves most turns out if it is to be sparing.
	Library(turn uint64, sparing bool) []Outcome
	// Read reads its Indexer in one of the ways in which controllers do.
	Read(Reading) ([]any, error)
	// Calling reports whether a call of that handler is in flight that takes virtual time.
	Calling(handler string) bool
	// Busy reports whether anything is queued or waits for a handler.
	Busy() bool
	// Due reports whether a timer of it has fired, such as that of a backoff, and what it does then is yet to happen.
	Due() bool
}
