package stack

import (
	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/informer/workqueue"
	"github.com/informersim/informersim/subjects"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Name is what scenarios and traces call this subject.
const Name = "stack"

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

// Stack is the subject "stack".
type Stack struct {
	env   subjects.Env
	parts Parts
}

// New returns the stack in a world.
func New(env subjects.Env) subjects.Subject { return &Stack{env: env} }

// With returns a factory of stacks with other parts.
func With(p Parts) subjects.Factory {
	return func(env subjects.Env) subjects.Subject { return &Stack{env: env, parts: p} }
}

// Name implements subjects.Subject.
func (*Stack) Name() string { return Name }

// Engine implements subjects.Subject.
func (*Stack) Engine() string { return "step" }

// AddInformer implements subjects.Subject.
func (s *Stack) AddInformer(spec subjects.InformerSpec) (subjects.Informer, error) {
	return newInformer(s, spec)
}
