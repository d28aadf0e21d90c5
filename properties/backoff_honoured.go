package properties

import (
	"fmt"
	"math"
	"slices"
	"time"

	"golang.org/x/time/rate"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// BackoffHonoured checks that who failed waits before the next attempt: a key of a work queue exactly as long as its rate limiter says
// (I94, I99), a reflector at least as long as its backoff, without jitter, and the REST layer below it (I12, I36).
var BackoffHonoured = newBackoffProperty(false)

// newBackoffProperty returns BackoffHonoured; if it is strict, it does not except k140890.
func newBackoffProperty(strict bool) Property {
	anew := func() *backoffHonoured {
		p := newBackoffHonoured()
		p.requests.strict = strict
		return p
	}
	return Property{
		Name: "BackoffHonoured",
		Statement: "a key whose reconcile failed waits exactly the delay of its rate limiter, which counts the failures since the last success, unless the key is added again, " +
			"and is given up when it has had as many retries in a row as its workers allow; " +
			"after a failed list or watch, an informer waits for its backoff, and no longer",
		Kinds: slices.Concat(workKinds, requestKinds),
		New:   func() Checker { return anew().checker() },
		Needs: []property.Need{{
			Feature: subjects.BackoffResets, Part: "of how long an informer waits at most", Rest: func() Checker { return Checker{Record: anew().record} },
		}, { // a release that lacks this lacks the other, too
			Feature: subjects.OneBackoff, Part: "of whether a watch that is refused lengthens the wait after a list that fails", Rest: func() Checker {
				p := anew()
				p.requests.two = true
				return Checker{Record: p.record}
			},
		}},
	}
}

// notRetried is KindReconciled's N for a key that is not retried. Any other negative delay is one that a limiter has asked for.
const notRetried = -1

// The default limiter (I99).
const (
	defaultBaseDelay = 5 * time.Millisecond
	defaultMaxDelay  = 1000 * time.Second
	defaultQPS       = 10
	defaultBurst     = 100
)

// backoffHonoured runs a model of every queue's limiter beside it, and one of every reflector's backoff.
type backoffHonoured struct {
	workQueueTracker
	limiters map[*workQueue]*limiter
	requests reflectorRequests
	pauses   []pause // those that have not ended
	pending  bool    // there are some
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

func (p *backoffHonoured) checker() Checker {
	return Checker{Record: p.record, StepEnd: p.stepEnd, Pending: &p.pending}
}

func (p *backoffHonoured) record(w World, r *sim.Record) *reports.Violation {
	switch r.Kind {
	case fakeapiserver.KindRequest:
		return p.requested(w, r)
	case subjects.KindBackoff:
		return p.backsOff(w, r)
	case fakeapiserver.KindResponse, fakeapiserver.KindPage, fakeapiserver.KindFrame, fakeapiserver.KindWatchClosed, subjects.KindStopped:
		p.requests.answer(w, r)
		if r.Kind != subjects.KindStopped {
			p.begin(w, r.Actor)
		}
		return nil
	}
	return p.work(w, r)
}

// requested checks that a list or watch does not come before the delay is over.
func (p *backoffHonoured) requested(w World, r *sim.Record) *reports.Violation {
	_, before, ok := p.requests.request(r)
	due := before.after.at + before.backoff + before.retry
	if !ok || r.At >= due || before.backoff+before.retry == 0 {
		return nil
	}
	name, waited := w.Kernel().ActorName(r.Actor), r.At-before.after.at
	v := &reports.Violation{Because: append(before.after.because(), reports.Because(r, "but %s asks again: %s", name, r.Detail))}
	if before.retry > 0 {
		v.Message = fmt.Sprintf("%s sends a request again after %v, although the answer makes the client wait %v", name, waited, before.retry)
	} else {
		v.Message = fmt.Sprintf("%s makes its next request %v after a failure, although its backoff is at least %v", name, waited, before.backoff)
	}
	return v
}

// backsOff checks the delay that an informer says it waits, if it says so: jitter at most doubles it.
func (p *backoffHonoured) backsOff(w World, r *sim.Record) *reports.Violation {
	id, ok := w.Kernel().ActorByName("conn/" + w.Kernel().ActorName(r.Actor))
	if !ok {
		return nil
	}
	c := p.requests.conns.get(id)
	n := &c.next
	n.decide(c, askRound)
	got, least, most := time.Duration(r.N), n.backoff, 2*n.backoff
	if n.retry > 0 {
		least, most = n.retry, n.retry
	}
	if most == 0 || got >= least && got <= most {
		return nil // one that waits without need lists for it, too: BoundedRelists
	}
	return &reports.Violation{
		Message: fmt.Sprintf("informer %s waits %v before its next request, want %v to %v", w.Kernel().ActorName(r.Actor), got, least, most),
		Because: append(n.after.because(), reports.Because(r, "but it waits %v", got)),
	}
}

// work checks the retries of a work queue.
func (p *backoffHonoured) work(w World, r *sim.Record) *reports.Violation {
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
	case subjects.ReconcileOK:
		delete(l.failures, r.Key)
		return nil
	case subjects.ReconcileFailedForGood, subjects.ReconcilePanickedForGood:
		had := l.failures[r.Key]
		delete(l.failures, r.Key)
		if had >= q.spec.Retries {
			return nil
		}
		return retriesBroken(r, q, fmt.Sprintf("is given up after %d retries in a row", had))
	}
	if r.N == notRetried {
		return nil // the worker crashed, or the key is not added again: WorkDrains
	}
	before := l.failures[r.Key]
	if q.spec.Retries > 0 && before >= q.spec.Retries {
		return retriesBroken(r, q, fmt.Sprintf("is retried once more after %d retries in a row", before))
	}
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

func retriesBroken(r *sim.Record, q *workQueue, what string) *reports.Violation {
	return &reports.Violation{
		Key:     r.Key,
		Message: fmt.Sprintf("%s %s, although the workers %s allow %d", r.Key, what, q.name, q.spec.Retries),
		Because: []reports.Evidence{reports.Because(r, "%s %s", r.Key, what)},
	}
}
