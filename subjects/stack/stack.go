package stack

import (
	"time"

	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/informer/workqueue"
	"github.com/informersim/informersim/subjects"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// Kind is the kind of subject "stack".
var Kind = With(Parts{})

// Parts are the places where a test can substitute a faulty double, to check that the properties detect the fault. The zero value
// is the stack unchanged.
type Parts struct {
	// Queue returns the queue over the informer's store, and reports what it enqueues to observe. Kind is the queue that it
	// replaces, "" for the delta queue: informers with another queue have it unchanged, as if one queue of the product had the fault.
	Kind  subjects.Queue
	Queue func(known *informer.Indexer, observe informer.EnqueueFunc) informer.Queue
	// Store wraps or replaces the store that the controller writes to.
	Store func(informer.Store) informer.Store
	// Process replaces Controller.HandleDeltas.
	Process func(*informer.Controller) func(*informer.Popped) error
	// ListOptions may change the options of a list.
	ListOptions func(*metav1.ListOptions)
	// WatchOptions may change the options of a watch.
	WatchOptions func(*metav1.ListOptions)
	// AfterError, if set, handles the ERROR events of a watch in place of the reflector: the watch is opened again, from
	// the last version that was seen, after the time that it returns.
	AfterError func() time.Duration
	// Reflector may change the options of the reflector.
	Reflector func(*informer.ReflectorOptions)
	// Informer may change the informer before it has handlers, and ListenerOptions the options of each handler.
	Informer        func(*informer.Informer)
	ListenerOptions func(*informer.ListenerOptions)
	// IndexFunc may replace the function of an index, and Removed may keep a handler from being removed: it has to call remove.
	IndexFunc func(cache.IndexFunc) cache.IndexFunc
	Removed   func(remove func())
	// OpenError may replace the error of a watch that could not be opened, and WatchEnd what ended one: nil for a clean end.
	OpenError, WatchEnd func(error) error
	// WorkQueue returns the work queue of a controller's workers. Keys that become ready go through the order.
	WorkQueue func(workqueue.RateLimiter[string], workqueue.Order[string]) WorkQueue
}

// Stack is a subject of Kind.
type Stack struct {
	deps  subjects.Dependencies
	parts Parts
}

// With returns Kind with other parts.
func With(p Parts) subjects.Kind {
	return subjects.Kind{
		Name: "stack", Engine: "step", Queues: queues,
		New:            func(deps subjects.Dependencies) subjects.Subject { return &Stack{deps: deps, parts: p} },
		NotInterleaved: "it has none, since each of its parts is an actor of its own; client-go has some",
	}
}

// AddInformer implements subjects.Subject.
func (s *Stack) AddInformer(spec subjects.InformerSpec) (subjects.Informer, error) {
	return newInformer(s, spec, nil)
}

// Restart implements subjects.Subject.
func (s *Stack) Restart(stopped subjects.Informer) (subjects.Informer, error) {
	before := stopped.(*actor)
	return newInformer(s, before.Spec, before)
}
