package properties

import (
	"container/heap"
	"time"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// workQueueTracker follows the work queues of all controllers through their records: which keys are due, and which are being
// reconciled.
type workQueueTracker struct {
	queues byActor[*workQueue] // by the actor of their workers; nil for one without a queue
	all    []*workQueue        // in order of adding
}

// workQueue models the work queue of one controller.
type workQueue struct {
	name     string
	spec     subjects.WorkersSpec
	keys     map[string]*workKey
	retries  retryHeap
	touched  []*workKey // in this step
	stopping bool
}

// workKey is a key's state in a work queue.
type workKey struct {
	key   string
	dirty bool // added, or its retry came due, since it was last taken
	since origin
	ready bool   // according to the queue
	turn  origin // since when

	working bool // a worker holds it
	by      string
	began   origin

	retryAt time.Duration // 0 for none
	failed  origin        // the reason for the retry
	overdue time.Duration // when its retry was due, if time went on from there without it; 0 for none
}

// workKinds are the records that workQueueTracker needs.
var workKinds = []sim.Kind{
	subjects.KindWorkers, subjects.KindEnqueue, subjects.KindReady, subjects.KindReconcile, subjects.KindReconciled,
}

// lookup returns the queue and the key that a record is about; nil for a record without a key.
func (q *workQueueTracker) lookup(w World, r *sim.Record) (*workQueue, *workKey) {
	queue := q.queue(w, r)
	if r.Kind == subjects.KindWorkers {
		switch r.Detail {
		case subjects.WorkersAdded:
			spec, _ := r.Obj.(subjects.WorkersSpec)
			queue = &workQueue{name: w.Kernel().ActorName(r.Actor), spec: spec, keys: map[string]*workKey{}}
			*q.queues.get(r.Actor), q.all = queue, append(q.all, queue)
		case subjects.WorkersStopping:
			queue.due(r.At, r.Step) // what came due before the shutdown counts, what would after it is lost (I97)
			queue.stopping = true
		}
		return nil, nil
	}
	if queue == nil {
		return nil, nil
	}
	queue.due(r.At, r.Step)
	return queue, queue.key(r.Key)
}

// queue returns the queue of the workers that a record is of; nil if there is none.
func (q *workQueueTracker) queue(w World, r *sim.Record) *workQueue {
	id, ok := w.Kernel().Owner(r.Actor)
	if !ok {
		return nil
	}
	return *q.queues.get(id)
}

func (q *workQueue) key(key string) *workKey {
	k := q.keys[key]
	if k == nil {
		k = &workKey{key: key}
		q.keys[key] = k
	}
	q.touched = append(q.touched, k)
	return k
}

// due marks the keys whose retries are due.
func (q *workQueue) due(now time.Duration, step uint64) {
	for len(q.retries) > 0 && q.retries[0].at <= now {
		item := q.retries.pop()
		k := item.key
		if k.retryAt != item.at || q.stopping {
			continue
		}
		k.retryAt = 0
		if !k.dirty {
			if item.at < now && !k.working {
				k.overdue = item.at
			}
			k.dirty, k.since = true, origin{step: step, at: now, how: "its retry came due"}
		}
		q.touched = append(q.touched, k)
	}
}

// follow applies a record to the key.
func (q *workQueue) follow(w World, r *sim.Record, k *workKey) {
	here := origin{step: r.Step, at: r.At}
	switch r.Kind {
	case subjects.KindEnqueue:
		if !k.dirty && !q.stopping {
			here.how = "it was added"
			k.dirty, k.since = true, here
		}
	case subjects.KindReady:
		if !k.ready {
			k.ready, k.turn = true, here
		}
	case subjects.KindReconcile:
		k.dirty, k.ready = false, false
		k.working, k.by, k.began = true, w.Kernel().ActorName(r.Actor), here
	case subjects.KindReconciled:
		k.working = false
		if r.N < 0 {
			return
		}
		at := r.At + time.Duration(r.N)
		if k.retryAt != 0 && k.retryAt <= at {
			return // a waiting key keeps the earlier time (I97)
		}
		k.retryAt, k.failed = at, here
		q.retries.push(retry{at: at, key: k})
		q.due(r.At, r.Step) // in case the delay is 0
	}
}

// retry is a key that waits for its retry.
type retry struct {
	at  time.Duration
	key *workKey
}

// retryHeap is a heap.Interface by its address, which is no memory of its own in an interface value.
type retryHeap []retry

func (h *retryHeap) Len() int           { return len(*h) }
func (h *retryHeap) Less(i, j int) bool { return (*h)[i].at < (*h)[j].at }
func (h *retryHeap) Swap(i, j int)      { (*h)[i], (*h)[j] = (*h)[j], (*h)[i] }

// Push and Pop would box a retry: push and pop take their place.
func (*retryHeap) Push(any) {}
func (*retryHeap) Pop() any { return nil }

// push adds a retry, and pop removes the one that is due first.
func (h *retryHeap) push(r retry) {
	*h = append(*h, r)
	heap.Fix(h, len(*h)-1)
}

func (h *retryHeap) pop() retry {
	all := *h
	first, last := all[0], len(all)-1
	all[0] = all[last]
	if *h = all[:last]; last > 0 {
		heap.Fix(h, 0)
	}
	return first
}
