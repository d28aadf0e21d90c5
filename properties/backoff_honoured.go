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

// BackoffHonoured checks that a key whose reconcile failed waits exactly the delay of its rate limiter (I94, I99).
var BackoffHonoured = Property{
	Name:      "BackoffHonoured",
	Statement: "a key whose reconcile failed waits exactly the delay of its rate limiter, which counts the failures since the last success, unless the key is added again",
	Kinds:     workKinds,
	New: func() Checker {
		p := newBackoffHonoured()
		return Checker{Record: p.record}
	},
}

// The default limiter (I99).
const (
	defaultBaseDelay = 5 * time.Millisecond
	defaultMaxDelay  = 1000 * time.Second
	defaultQPS       = 10
	defaultBurst     = 100
)

// backoffHonoured runs a model of every queue's limiter beside it.
type backoffHonoured struct {
	workQueueTracker
	limiters map[*workQueue]*limiter
}

// limiter models a rate limiter.
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

// failed counts a failure and returns the key's delay.
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
	q, k := p.lookup(w, r)
	if q == nil {
		return nil
	}
	defer func() { q.touched = q.touched[:0] }()
	if r.Kind == subjects.KindReady && !k.dirty && k.retryAt > r.At {
		return &reports.Violation{
			Key:     k.key,
			Message: fmt.Sprintf("%s became ready for the workers %s, but it was not added and its retry is not due until %v", k.key, q.name, k.retryAt),
			Because: []reports.Evidence{
				{Step: k.failed.step, At: k.failed.at, Text: fmt.Sprintf("%s failed, to be retried %v later", k.key, k.retryAt-k.failed.at)},
				reports.Because(r, "but it became ready"),
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

// reconciled checks the delay after a failure.
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
		return nil // the worker crashed, or does not retry
	}
	before := l.failures[r.Key]
	want := l.failed(r.Key, w.Kernel().Clock().Now())
	if got := time.Duration(r.N); got != want {
		return &reports.Violation{
			Key: r.Key,
			Message: fmt.Sprintf("failure %d in a row of %s in the workers %s is retried after %v, want %v from its limiter",
				before+1, r.Key, q.name, got, want),
			Because: []reports.Evidence{reports.Because(r, "but its delay is %v", got)},
		}
	}
	return nil
}
