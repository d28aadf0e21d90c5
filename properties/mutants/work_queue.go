package mutants

import (
	"container/heap"
	"slices"
	"time"

	"github.com/informersim/informersim/informer/workqueue"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

// workFlaws are the possible defects of a workQueue.
type workFlaws struct {
	dropWhileWorked  bool // an Add of a key that a worker holds is dropped
	readyWhileWorked bool // such an Add makes the key ready at once
	retryAtOnce      bool // a failed key is ready at once
	retryLost        bool // a failed key is never added again, although it gets a delay
	noRetry          bool // a failed key gets no retry
	laterWins        bool // a waiting key takes a later time over an earlier one
	neverForgets     bool // a success does not reset the count of failures
}

func workQueueOf(f workFlaws) subjects.Kind {
	return stack.With(stack.Parts{WorkQueue: func(l workqueue.RateLimiter[string], o workqueue.Order[string]) stack.WorkQueue {
		return &workQueue{workFlaws: f, limiter: l, order: o, dirty: map[string]bool{}, working: map[string]int{}}
	}})
}

// workQueue is a rate limiting queue (I94 to I99), written as simply as possible so that defects are easy to add.
type workQueue struct {
	workFlaws
	limiter workqueue.RateLimiter[string]
	order   workqueue.Order[string]
	dirty   map[string]bool
	working map[string]int
	waiting waitingKeys
	closed  bool
	drains  bool // somebody waits until nothing is being processed
}

type waitingKey struct {
	key string
	at  time.Time
}

// waitingKeys is a heap, so that keys which are due at one instant leave in the order in which they leave the stack's.
type waitingKeys []waitingKey

// Len implements heap.Interface.
func (w waitingKeys) Len() int { return len(w) }

// Less implements heap.Interface.
func (w waitingKeys) Less(i, j int) bool { return w[i].at.Before(w[j].at) }

// Swap implements heap.Interface.
func (w waitingKeys) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

// Push implements heap.Interface.
func (w *waitingKeys) Push(key any) { *w = append(*w, key.(waitingKey)) }

// Pop implements heap.Interface.
func (w *waitingKeys) Pop() any {
	last := (*w)[len(*w)-1]
	*w = (*w)[:len(*w)-1]
	return last
}

var _ stack.WorkQueue = (*workQueue)(nil)

// Add implements stack.WorkQueue.
func (q *workQueue) Add(key string) workqueue.AddResult {
	worked := q.working[key] > 0
	switch {
	case q.closed || q.dropWhileWorked && worked:
		return workqueue.AddIgnored
	case q.dirty[key]:
		return workqueue.AddMerged
	}
	q.dirty[key] = true
	if worked && !q.readyWhileWorked {
		return workqueue.AddDeferred
	}
	q.order.Push(key)
	return workqueue.AddReady
}

// TryGet implements stack.WorkQueue.
func (q *workQueue) TryGet() (key string, ok, shutdown bool) {
	if q.order.Len() == 0 {
		return "", false, q.closed
	}
	key = q.order.Pop()
	delete(q.dirty, key)
	q.working[key]++
	return key, true, false
}

// Done implements stack.WorkQueue.
func (q *workQueue) Done(key string) (readyAgain bool) {
	if q.working[key]--; q.working[key] > 0 {
		return false
	}
	delete(q.working, key)
	q.drains = q.drains && len(q.working) > 0
	if !q.dirty[key] || q.readyWhileWorked {
		return false
	}
	q.order.Push(key)
	return true
}

// AddRateLimited implements stack.WorkQueue.
func (q *workQueue) AddRateLimited(now time.Time, key string) time.Duration {
	if q.noRetry {
		return -1
	}
	d := q.limiter.When(now, key)
	switch {
	case q.closed || q.retryLost:
	case q.retryAtOnce || d <= 0:
		q.Add(key)
	default:
		q.wait(key, now.Add(d))
	}
	return d
}

func (q *workQueue) wait(key string, at time.Time) {
	k := slices.IndexFunc(q.waiting, func(w waitingKey) bool { return w.key == key })
	if k < 0 {
		heap.Push(&q.waiting, waitingKey{key, at})
		return
	}
	if at.Before(q.waiting[k].at) != q.laterWins {
		q.waiting[k].at = at
		heap.Fix(&q.waiting, k)
	}
}

// Forget implements stack.WorkQueue.
func (q *workQueue) Forget(key string) {
	if !q.neverForgets {
		q.limiter.Forget(key)
	}
}

// NumRequeues implements stack.WorkQueue.
func (q *workQueue) NumRequeues(key string) int { return q.limiter.NumRequeues(key) }

// Advance implements stack.WorkQueue.
func (q *workQueue) Advance(now time.Time) (ready int) {
	for len(q.waiting) > 0 && !q.waiting[0].at.After(now) {
		key := heap.Pop(&q.waiting).(waitingKey).key
		if q.Add(key) == workqueue.AddReady {
			ready++
		}
	}
	return ready
}

// NextDeadline implements stack.WorkQueue.
func (q *workQueue) NextDeadline() (deadline time.Time, ok bool) {
	for i, w := range q.waiting {
		if i == 0 || w.at.Before(deadline) {
			deadline = w.at
		}
	}
	return deadline, len(q.waiting) > 0
}

// Len implements stack.WorkQueue.
func (q *workQueue) Len() int { return q.order.Len() }

// ShutDown implements stack.WorkQueue.
func (q *workQueue) ShutDown() { q.closed, q.waiting, q.drains = true, nil, false }

// ShutDownWithDrain implements stack.WorkQueue.
func (q *workQueue) ShutDownWithDrain() {
	q.ShutDown()
	q.drains = len(q.working) > 0
}

// Draining implements stack.WorkQueue.
func (q *workQueue) Draining() bool { return q.drains }
