//go:build no_typed_queues

package gates

import (
	"reflect"
	"time"

	"k8s.io/client-go/util/workqueue"
)

type keyQueue = workqueue.RateLimitingInterface

// build makes client-go's queue. It has no hook for the keys that become ready: they are seen in its list.
func (w *workQueue) build() {
	w.limiter = &limiter{RateLimiter: limiterOf(w.spec), answers: answers{g: w.g, last: map[string]delay{}}}
	w.q = workqueue.NewRateLimitingQueue(w.limiter)
	list := reflect.ValueOf(w.q)
	for _, name := range []string{"DelayingInterface", "Interface", "queue"} {
		var err error
		if list, err = deref(list, "the work queue"); err == nil {
			list, err = field(list, name)
		}
		if err != nil {
			panic(err) // a release of which nobody has looked at the work queue
		}
	}
	w.seen = &listOfKeys{list: list}
}

func limiterOf(spec WorkersSpec) workqueue.RateLimiter {
	if spec.Base == 0 && spec.Max == 0 {
		return workqueue.DefaultControllerRateLimiter()
	}
	return workqueue.NewItemExponentialFailureRateLimiter(spec.Base, spec.Max)
}

func (w *workQueue) get() (key string, shutdown bool) {
	item, shutdown := w.q.Get()
	if !shutdown {
		key = item.(string)
		w.g.mu.Lock()
		w.seen.taken++
		w.g.mu.Unlock()
	}
	return key, shutdown
}

// listOfKeys reads the keys of a work queue, which must not change meanwhile.
type listOfKeys struct {
	list  reflect.Value // of items, the oldest first
	known int           // how many of them have been told
	taken int           // from the head since then; guarded by the gates' mu
}

// newlyReady returns the keys that have become ready since it was called last. It is called with mu held.
func (w *workQueue) newlyReady() []string {
	s := w.seen
	var keys []string
	// A key that is taken in the report in which it becomes ready would not be seen. None is: a worker takes only when it is admitted,
	// and that is when there is a key.
	for k := max(s.known-s.taken, 0); k < s.list.Len(); k++ {
		keys = append(keys, s.list.Index(k).Elem().String())
	}
	s.known, s.taken = s.list.Len(), 0
	return keys
}

// limiter is client-go's limiter; it remembers its last answers for the records of reconciles.
type limiter struct {
	workqueue.RateLimiter
	answers
}

// When implements workqueue.RateLimiter.
func (l *limiter) When(key any) time.Duration {
	return l.note(key.(string), func() time.Duration { return l.RateLimiter.When(key) })
}

// observed is what a queue adds to workQueue.
type observed struct{ seen *listOfKeys }
