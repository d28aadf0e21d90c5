package properties

import (
	"container/heap"
	"time"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// workQueueTracker follows the work queues of all controllers, by their records: what must be in them, and what is being
// worked on.
type workQueueTracker struct {
	queues map[string]*workQueue
	all    []*workQueue // in order of adding
}

// workQueue is one of them.
type workQueue struct {
	name     string
	spec     subjects.WorkersSpec
	keys     map[string]*workKey
	retries  retryHeap
	touched  []*workKey // in this step
	stopping bool
}

// workKey is what the queue must know of a key.
type workKey struct {
	key   string
	dirty bool // it was added, or its retry came due, since it was last taken
	since knownFrom
	ready bool // the queue has said so

	working bool // a worker has it
	by      string
	began   knownFrom

	retryAt time.Duration // when it is to be tried again; 0 for not
	failed  knownFrom     // why
}

// workKinds are the records that workQueueTracker needs.
var workKinds = []sim.Kind{
	subjects.KindWorkers, subjects.KindEnqueue, subjects.KindReady, subjects.KindReconcile, subjects.KindReconciled,
}

// of is the queue that a record is about, and its key; both nil for a record about no key.
func (q *workQueueTracker) of(w World, r *sim.Record) (*workQueue, *workKey) {
	name := informerOf(w.Kernel().ActorName(r.Actor))
	queue := q.queues[name]
	if r.Kind == subjects.KindWorkers {
		switch r.Detail {
		case subjects.WorkersAdded:
			if q.queues == nil {
				q.queues = map[string]*workQueue{}
			}
			spec, _ := r.Obj.(subjects.WorkersSpec)
			queue = &workQueue{name: name, spec: spec, keys: map[string]*workKey{}}
			q.queues[name], q.all = queue, append(q.all, queue)
		case subjects.WorkersStopping:
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

func (q *workQueue) key(key string) *workKey {
	k := q.keys[key]
	if k == nil {
		k = &workKey{key: key}
		q.keys[key] = k
	}
	q.touched = append(q.touched, k)
	return k
}

// due notes the retries whose time has come.
func (q *workQueue) due(now time.Duration, step uint64) {
	for len(q.retries) > 0 && q.retries[0].at <= now {
		item, _ := heap.Pop(&q.retries).(retry)
		k := item.key
		if k.retryAt != item.at || q.stopping {
			continue
		}
		k.retryAt = 0
		if !k.dirty {
			k.dirty, k.since = true, knownFrom{step: step, at: now, how: "its time to be tried again came"}
		}
		q.touched = append(q.touched, k)
	}
}

// follow takes a record over.
func (q *workQueue) follow(w World, r *sim.Record, k *workKey) {
	here := knownFrom{step: r.Step, at: r.At}
	switch r.Kind {
	case subjects.KindEnqueue:
		if !k.dirty && !q.stopping {
			here.how = "it was added"
			k.dirty, k.since = true, here
		}
	case subjects.KindReady:
		k.ready = true
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
			return // a key that waits keeps the earlier time (I97)
		}
		k.retryAt, k.failed = at, here
		heap.Push(&q.retries, retry{at: at, key: k})
		q.due(r.At, r.Step) // a delay of nothing
	}
}

// retry is a key that waits to be tried again.
type retry struct {
	at  time.Duration
	key *workKey
}

type retryHeap []retry

func (h retryHeap) Len() int           { return len(h) }
func (h retryHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h retryHeap) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }

// Push implements heap.Interface.
func (h *retryHeap) Push(x any) {
	r, _ := x.(retry)
	*h = append(*h, r)
}

// Pop implements heap.Interface.
func (h *retryHeap) Pop() any {
	last := (*h)[len(*h)-1]
	*h = (*h)[:len(*h)-1]
	return last
}
