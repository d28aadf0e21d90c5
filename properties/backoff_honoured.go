package properties

import (
	"fmt"
	"math"
	"time"

	"golang.org/x/time/rate"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// BackoffHonoured says that a key whose reconcile has failed waits as long as its rate limiter says, counting from its last success, unless it changes.
var BackoffHonoured = Property{
	Name:      "BackoffHonoured",
	Statement: "a key whose reconcile has failed waits as long as its rate limiter says, counting from its last success, unless it changes",
	Kinds:     workKinds,
	New: func() Checker {
		p := newBackoffHonoured()
		return Checker{Record: p.record}
	},
}

// The numbers of the default limiter (I99).
const (
	defaultBaseDelay = 5 * time.Millisecond
	defaultMaxDelay  = 1000 * time.Second
	defaultQPS       = 10
	defaultBurst     = 100
)

// backoffHonoured: a key whose reconcile has failed waits as long as its limiter says, counting from its last success, unless
// it changes meanwhile (I94, I99).
type backoffHonoured struct {
	workQueueTracker
	limiters map[*workQueue]*limiter
}

// limiter is what a rate limiter must answer.
type limiter struct {
	base, longest time.Duration
	bucket        *rate.Limiter // nil for none
	failures      map[string]int
}

func newLimiter(spec subjects.WorkersSpec) *limiter {
	l := &limiter{base: spec.Base, longest: spec.Max, failures: map[string]int{}}
	if spec.Base == 0 && spec.Max == 0 {
		l.base, l.longest = defaultBaseDelay, defaultMaxDelay
		l.bucket = rate.NewLimiter(defaultQPS, defaultBurst)
	}
	return l
}

// failed counts a failure, and says how long the key has to wait.
func (l *limiter) failed(key string, now time.Time) time.Duration {
	n := l.failures[key]
	l.failures[key] = n + 1
	d := l.longest
	if exact := float64(l.base) * math.Exp2(float64(n)); exact < float64(l.longest) {
		d = time.Duration(exact)
	}
	if l.bucket != nil {
		d = max(d, l.bucket.ReserveN(now, 1).DelayFrom(now))
	}
	return d
}

func newBackoffHonoured() *backoffHonoured {
	return &backoffHonoured{limiters: map[*workQueue]*limiter{}}
}

func (p *backoffHonoured) record(w World, r *sim.Record) *reports.Violation {
	q, k := p.of(w, r)
	if q == nil {
		return nil
	}
	defer func() { q.touched = q.touched[:0] }()
	if r.Kind == subjects.KindReady && !k.dirty && k.retryAt > r.At {
		return &reports.Violation{
			Key:     k.key,
			Message: fmt.Sprintf("%s became ready for the workers %s though nobody added it and it was to wait until %v", k.key, q.name, k.retryAt),
			Because: []reports.Evidence{
				{Step: k.failed.step, At: k.failed.at, Text: fmt.Sprintf("%s failed, and was to be tried again %v later", k.key, k.retryAt-k.failed.at)},
				reports.Because(r, "however it became ready"),
			},
		}
	}
	if r.Kind == subjects.KindReconciled && !q.stopping {
		if v := p.reconciled(w, r, q); v != nil {
			return v
		}
	}
	q.follow(w, r, k)
	return nil
}

// reconciled checks the delay that a failure was given.
func (p *backoffHonoured) reconciled(w World, r *sim.Record, q *workQueue) *reports.Violation {
	l := p.limiters[q]
	if l == nil {
		l = newLimiter(q.spec)
		p.limiters[q] = l
	}
	switch r.Detail {
	case subjects.ReconcileOK, subjects.ReconcileFailedForGood, subjects.ReconcilePanickedForGood:
		delete(l.failures, r.Key)
		return nil
	}
	if r.N < 0 {
		return nil // a worker that has crashed, or one that does not try again
	}
	before := l.failures[r.Key]
	want := l.failed(r.Key, w.Kernel().Clock().Now())
	if got := time.Duration(r.N); got != want {
		return &reports.Violation{
			Key: r.Key,
			Message: fmt.Sprintf("%s failed for the %d. time in a row in the workers %s, and is tried again after %v; its limiter says %v",
				r.Key, before+1, q.name, got, want),
			Because: []reports.Evidence{reports.Because(r, "however it was given a delay of %v", got)},
		}
	}
	return nil
}
