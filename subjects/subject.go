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

// Env is the world that a subject lives in.
type Env struct {
	Kernel  *sim.Kernel
	Cluster *fakeapiserver.Cluster
	// Draws are where backoffs and watch timeouts are drawn from in a transcript; nil when schedules are explored: the subject
	// then has sources of its own.
	Draws *Draws
}

// Subject is an informer stack under test.
type Subject interface {
	// AddInformer makes an informer and starts it.
	AddInformer(InformerSpec) (Informer, error)
}

// InformerSpec describes an informer. Name and Resource are needed.
type InformerSpec struct {
	Name      string
	Resource  store.ResourceID
	Queue     Queue         // "" for what the subject has unless told otherwise
	Resync    time.Duration // check period and default of its handlers; 0 for none
	PageSize  int64         // WatchListPageSize; 0 for the reflector's own rules (I5)
	Namespace string        // "" for all
	Labels    string        // label selector
	Fields    string        // field selector
	WatchList bool          // try a streaming list first (I13)
	Handlers  []HandlerSpec
	// Policy says which replica serves it.
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
	// Resource is what it watches.
	Resource() store.ResourceID
	// Selects tells whether it should hold obj, of its resource, by namespace and selectors.
	Selects(obj runtime.Object) bool
	// AddHandler adds a handler; after the start it is replayed the store (I79).
	AddHandler(HandlerSpec) error
	// RemoveHandler removes one (I81).
	RemoveHandler(name string) error
	// Handlers are the names of its handlers, in order of adding.
	Handlers() []string
	// AddWorkers adds a controller's workers, with a work queue and a handler of their name that fills it.
	AddWorkers(WorkersSpec) (Workers, error)
	// InjectFault makes calls of a handler go wrong that begin from now on.
	InjectFault(handler string, f CallFault) error
	// ClearFaults ends the faults of all handlers.
	ClearFaults()
	// Hold keeps a part from stepping until Release: "queue" for the pop, or a handler's name.
	Hold(part string) error
	Release(part string) error
	// Stop ends it; it is idempotent.
	Stop()

	HasSynced() bool
	// LastSyncResourceVersion is the reflector's.
	LastSyncResourceVersion() string
	// StoreResourceVersion is its Indexer's (I70). It is "" but with the atomic queue: without it, it is that of the object that
	// was written last, and a resync writes in any order.
	StoreResourceVersion() string
	// Keys are the keys of its Indexer, sorted.
	Keys() []string
	// Get returns what its Indexer holds.
	Get(key string) (runtime.Object, bool)
	// Len is the number of objects in its Indexer.
	Len() int
	// Busy tells whether anything is queued or waits for a handler.
	Busy() bool
}
