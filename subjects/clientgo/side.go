package clientgo

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo/gates"
)

// Side is the side on which client-go lives, in a bubble: [gates.Gates] in this process, or those of a guest. See there for the methods.
//
// What the methods without a result do may be put off until the next one with a result, or that lets the bubble rest.
type Side interface {
	// Err returns the error with which the other side has failed, nil if it has not.
	Err() error
	Seed(seed int64)
	Quiesce()
	Pass(d time.Duration) time.Duration
	Elapsed() time.Duration
	Panic() *subjects.Failure
	Goroutines() []string
	Interleaved() bool

	NewInformer(spec gates.InformerSpec) error
	AddHandler(informer int, resync time.Duration, through int) error
	RemoveHandler(informer, handler int) error
	Start(informer int) (gates.QueueInfo, error)
	Stop(informer int)

	Pop(informer int)
	Rescan(informer int)
	Answer(request int64, a gates.Answer)
	Frame(request int64, event watch.EventType, obj runtime.Object, end error)
	Through(informer, handler, calls int)
	Return(informer, handler int, panics bool)
	Drop(informer, handler int)

	QueueKeys(informer, from, to int) []string
	LastSync(informer int) string
	StoreRevision(informer int) string
	Keys(informer int) []string
	Get(informer int, key string) any
	AddIndex(informer int, spec subjects.IndexSpec) error
	IndexValues(informer int, index string) []string
	IndexKeys(informer int, index, value string) []string
	Outcomes(informer int) []subjects.Outcome
	Library(turn uint64) []subjects.Outcome
	Read(informer int, r subjects.Reading) ([]any, error)

	NewQueue(spec gates.WorkersSpec)
	AddKey(queue int, key string)
	Admit(queue, worker int)
	Finish(queue, worker int, o gates.Outcome)
	ShutDown(queue int)
	ShutDownWithDrain(queue int)
}

var _ Side = (*gates.Gates)(nil)

// Enter finds the side of a run that has come to elapsed, which tells what happens there.
type Enter func(elapsed time.Duration, tell func(*gates.Event)) (Side, error)

// enterBubble is Enter for this process.
func enterBubble(elapsed time.Duration, tell func(*gates.Event)) (Side, error) {
	g, err := gates.Enter(elapsed, tell)
	if err != nil {
		return nil, err
	}
	return g, nil
}

// deliver notes what has happened in the bubble, for the collect of this step.
func (s *Subject) deliver(e *gates.Event) {
	switch e.What {
	case gates.Ready, gates.Length, gates.Drained, gates.Worker:
		s.queues[e.Of].deliver(e)
		return
	case gates.Unread:
		for _, i := range s.informers {
			i.link.unread(e.ID)
		}
		return
	}
	i := s.informers[e.Of]
	switch e.What {
	case gates.Queued:
		i.queue.length = int(e.N)
	case gates.Unwoken:
		i.Kernel.Fail(&subjects.Failure{Kind: subjects.Hung, What: fmt.Sprintf("informer %s has something queued, and a Pop that waits for it is not woken", i.Spec.Name)})
	case gates.Blocked:
		i.Kernel.Fail(&subjects.Failure{Kind: subjects.Hung, What: fmt.Sprintf("informer %s: %s", i.Spec.Name, e.Key)})
	case gates.Synced:
		i.hasSynced = true
	case gates.Parked:
		i.link.parked = append(i.link.parked, &request{id: e.ID, watch: e.Flag, options: *e.Options})
	case gates.Canceled:
		i.link.canceled = append(i.link.canceled, e.ID)
	case gates.Waits:
		i.link.waits = append(i.link.waits, time.Duration(e.N))
	case gates.Touched:
		i.indexer.touched = append(i.indexer.touched, touched{e.Key, e.Obj})
	case gates.Holds:
		i.indexer.now[e.Key] = e.Obj
	default:
		i.handlers[e.Sub].deliver(e)
	}
}
