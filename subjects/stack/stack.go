package stack

import (
	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/informer/workqueue"
	"github.com/informersim/informersim/subjects"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Kind is the kind of subject "stack".
var Kind = With(Parts{})

// Parts are the places where a test can put a double, to see that the properties find what it does wrong. The zero value is
// the stack as it is.
type Parts struct {
	// Queue makes the queue over the informer's store, whatever the informer is told. It reports what it enqueues to observe.
	// Kind is which of the queues it stands for; "" for the delta queue.
	Kind  subjects.Queue
	Queue func(known *informer.Indexer, observe informer.EnqueueFunc) informer.Queue
	// Store wraps or replaces the store that the controller writes to.
	Store func(informer.Store) informer.Store
	// Process replaces Controller.HandleDeltas.
	Process func(*informer.Controller) func(*informer.Popped) error
	// ListOptions may change what a list asks for.
	ListOptions func(*metav1.ListOptions)
	// WorkQueue makes the work queue of a controller's workers. What becomes ready goes through the order.
	WorkQueue func(workqueue.RateLimiter[string], workqueue.Order[string]) WorkQueue
}

// Stack is a subject of Kind.
type Stack struct {
	env   subjects.Env
	parts Parts
}

// With is Kind with other parts.
func With(p Parts) subjects.Kind {
	return subjects.Kind{
		Name: "stack", Engine: "step",
		New: func(env subjects.Env) subjects.Subject { return &Stack{env: env, parts: p} },
	}
}

// AddInformer implements subjects.Subject.
func (s *Stack) AddInformer(spec subjects.InformerSpec) (subjects.Informer, error) {
	return newInformer(s, spec)
}
