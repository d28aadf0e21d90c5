package library

import (
	"errors"
	"fmt"
	"io"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
)

// refusing is the destination of a Reflector that takes nothing while it is full.
type refusing struct {
	informer.QueueWriter
	full    bool
	lists   int
	listed  []string // the keys and revisions of the last
	resyncs int
}

var errFull = errors.New("the queue is full")

func (q *refusing) err() error {
	if q.full {
		return errFull
	}
	return nil
}

func (q *refusing) Add(any) error                    { return q.err() }
func (q *refusing) Update(any) error                 { return q.err() }
func (q *refusing) Delete(any) error                 { return q.err() }
func (q *refusing) Bookmark(string) error            { return q.err() }
func (q *refusing) Transformer() cache.TransformFunc { return nil }

func (q *refusing) Replace(items []any, _ string) error {
	q.lists++
	q.listed = q.listed[:0]
	for _, item := range items {
		obj := item.(metav1.Object)
		q.listed = append(q.listed, obj.GetNamespace()+"/"+obj.GetName()+"@"+obj.GetResourceVersion())
	}
	return q.err()
}

func (q *refusing) Resync() error {
	q.resyncs++
	return q.err()
}

// reflected is a Reflector and what it does.
type reflected struct {
	*check
	*informer.Reflector
	q    *refusing
	now  time.Time
	told int // how often it has told of an error
	// rv is the resourceVersion that it should have.
	rv          string
	since       time.Time // when the watch was asked for
	events      int
	first, last time.Time // of the series of internal errors
	drawn       float64   // the last random number
	gone        bool      // the server did not have what it asked for
}

// retried is for how long internal errors lead to another watch.
const retried = 30 * time.Second

const resyncPeriod = 7 * time.Second

// reflectors have a Reflector meet a queue that refuses what it is given, and resyncs that fail (I30, I39).
func reflectors(c *check) {
	r := &reflected{check: c, q: &refusing{}, now: start}
	least := []time.Duration{0, time.Minute, 20 * time.Minute}[c.IntN(3)]
	stream := c.oneIn(3)
	r.Reflector = informer.NewReflector(informer.ReflectorOptions{
		Queue: r.q, ResyncPeriod: resyncPeriod, WatchList: stream, MinWatchTimeout: least, MaxInternalErrorRetryDuration: retried,
		Random: func() float64 { r.drawn = c.Float64(); return r.drawn }, WatchErrorHandler: func(error) { r.told++ }, ExpectedType: &metav1.PartialObjectMetadata{},
	})
	r.Start(r.now)
	for n := 1; n < 12 && len(c.wrong) == 0; n++ {
		rv := fmt.Sprint(10 * (1 + c.IntN(2*n))) // a server that is restored has older ones
		r.q.full = c.oneIn(3)
		if stream {
			r.streams(rv)
		} else {
			r.lists(rv)
		}
		if r.q.full {
			continue // it sleeps
		}
		shortest := max(least, 5*time.Minute).Seconds()
		c.is("a watch's timeout", int64(shortest+r.drawn*shortest), *r.Want().Options.TimeoutSeconds)
		r.watches()
	}
	c.pages()
	c.stops()
	c.backoffs()
	c.foreign()
	c.unmarked()
	c.unordered()
	c.unstored()
	c.lost()
	c.resyncFailsOnce()
	c.unwanted()
	c.secondAttempt()
	c.expiresNewest()
	c.inPages()
	r.Stop()
	at, runs := r.NextResync()
	c.is("the resync timer after a stop", fmt.Sprint(time.Time{}, false), fmt.Sprint(at, runs))
}

// cuts are how a watch ends that was closed, or cut between two frames (I37).
var cuts = []error{nil, io.EOF, io.ErrUnexpectedEOF, fmt.Errorf("the body: %w", io.ErrUnexpectedEOF), fmt.Errorf("the body: %w", io.EOF), timeout{}}

// wants compares what it waits for.
func (r *reflected) wants(when string, op informer.Op, rv string) {
	r.is("what it asks for "+when, fmt.Sprint(op, " ", rv), fmt.Sprint(r.Want().Op, " ", r.Want().Options.ResourceVersion))
	r.is("LastSyncResourceVersion "+when, r.rv, r.LastSyncResourceVersion())
}

// from is the resourceVersion of a list: any, the first time.
func (r *reflected) from() string {
	if r.rv == "" {
		return "0"
	}
	return r.rv
}

// lists answers a list.
func (r *reflected) lists(rv string) {
	from := r.from()
	if r.gone {
		from = ""
	}
	r.wants("first", informer.OpList, from)
	if r.oneIn(4) {
		for range 1 + r.IntN(2) {
			r.OnListError(apierrors.NewResourceExpired("too old"))
			if r.Want().Op == informer.OpList {
				r.wants("after a list that expired", informer.OpList, "")
			}
		}
		if r.Want().Op == informer.OpSleep {
			r.told, r.gone = 0, true
			r.q.full = true // there is no list
			r.sleeps()
			return
		}
	}
	r.gone = false
	r.OnPage([]runtime.Object{object("ns1/a", 1)}, rv, "", nil)
	r.listed(rv)
}

// listed is after a list, which the queue may have refused.
func (r *reflected) listed(rv string) {
	if r.q.full {
		r.wants("after a list that the queue refused", informer.OpSleep, "")
		r.is("errors told", 1, r.told)
		r.told = 0
		r.sleeps()
		return
	}
	r.rv = rv
	r.wants("after a list", informer.OpWatch, rv)
	r.OnWatchOpened()
}

// streams answers a streaming list. One that the queue refuses is followed by a list.
func (r *reflected) streams(rv string) {
	r.wants("first", informer.OpWatch, r.rv)
	if r.oneIn(4) { // what an attempt has brought that is cut off does not count
		r.OnWatchOpened()
		r.OnEvent(watch.Event{Type: watch.Added, Object: object("ns1/c", 1)})
		r.OnWatchClosed(cuts[r.IntN(len(cuts))])
		r.wants("after a streaming list that is cut off", informer.OpWatch, r.rv) // at once (I20)
	}
	r.OnWatchOpened()
	r.OnEvent(watch.Event{Type: watch.Added, Object: object("ns1/a", 1)})
	want := "[ns1/a@1]"
	if r.oneIn(2) { // what changes while the list is sent comes in between
		r.OnEvent(watch.Event{Type: watch.Added, Object: object("ns1/b", 2)})
		r.OnEvent(watch.Event{Type: watch.Modified, Object: object("ns1/a", 3)})
		r.OnEvent(watch.Event{Type: watch.Deleted, Object: object("ns1/b", 4)})
		want = "[ns1/a@3]"
	}
	r.pass(time.Duration(r.IntN(3)) * time.Second)
	if r.oneIn(2) { // a bookmark that ends nothing
		mark := object("ns1/a", 1)
		mark.Annotations = map[string]string{metav1.InitialEventsAnnotationKey: "false"}
		r.OnEvent(watch.Event{Type: watch.Bookmark, Object: mark})
		r.is("LastSyncResourceVersion before the end of a streaming list", r.rv, r.LastSyncResourceVersion())
	}
	end := object("ns1/a", 1)
	end.ResourceVersion, end.Annotations = rv, map[string]string{metav1.InitialEventsAnnotationKey: "true"}
	r.OnEvent(watch.Event{Type: watch.Bookmark, Object: end})
	r.is("what a streaming list has", want, fmt.Sprint(r.q.listed))
	if !r.q.full {
		r.rv = rv
		r.is("LastSyncResourceVersion after a streaming list", rv, r.LastSyncResourceVersion())
		at, _ := r.NextResync()
		r.is("the next resync after a streaming list", r.now.Add(resyncPeriod), at)
		return
	}
	r.wants("after a streaming list that the queue refused", informer.OpList, r.from())
	r.OnPage(nil, rv, "", nil)
	r.listed(rv)
}

// sleeps waits until the backoff is over. No resync comes meanwhile.
func (r *reflected) sleeps() {
	_, runs := r.NextResync()
	r.is("the resync timer runs between two rounds", false, runs)
	r.wakes()
}

// wakes lets the pause end.
func (r *reflected) wakes() {
	want := r.Want().Until
	if resync, runs := r.NextResync(); runs && resync.Before(want) {
		want = resync
	}
	at, any := r.NextTime()
	r.is("NextTime of a pause", want, at)
	r.is("NextTime of a pause: there is one", true, any)
	r.now = r.Want().Until
	r.OnTime(r.now)
}

// watches has an open watch bring events, resyncs and errors, until its round is over.
func (r *reflected) watches() {
	r.opened()
	r.is("the watch is open", true, r.StreamOpen())
	r.first, r.last = time.Time{}, time.Time{}
	for n := range 12 {
		r.q.full = r.oneIn(5)
		switch r.IntN(8) {
		case 0:
			if r.resync() {
				return
			}
		case 1:
			if r.resyncBetween() {
				return
			}
		case 2: // an event; whether the queue takes it or not, the watch has been there
			obj := object(r.key(), 1)
			r.rv = fmt.Sprint(r.rv, n)
			obj.ResourceVersion = r.rv
			r.OnEvent(watch.Event{Type: []watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark}[r.IntN(4)], Object: obj})
			r.events++
			r.is("LastSyncResourceVersion after an event", r.rv, r.LastSyncResourceVersion())
		case 3: // something foreign does not count
			r.OnEvent(watch.Event{Type: watch.Added, Object: &metav1.Status{}})
			r.is("LastSyncResourceVersion after a foreign event", r.rv, r.LastSyncResourceVersion())
		case 4: // a server that is busy
			r.q.full = false
			r.OnEvent(watch.Event{Type: watch.Error, Object: status(apierrors.NewTooManyRequests("busy", 1))})
			r.wants("after a 429 in the watch", informer.OpSleep, "")
			r.wakes()
			r.wants("after the pause for a 429", informer.OpWatch, r.rv)
			r.opened()
		case 5, 6: // a server or a frame that is broken
			if r.broken() {
				return
			}
		default: // the end of the watch
			r.pass([]time.Duration{0, 999 * time.Millisecond, time.Second, 3 * time.Second}[r.IntN(4)])
			short := r.events == 0 && r.now.Sub(r.since) < time.Second
			r.OnWatchClosed(cuts[r.IntN(len(cuts))])
			if short {
				r.wants("after a watch that closed at once", informer.OpSleep, "")
				r.sleeps()
				return
			}
			r.wants("after a watch that closed", informer.OpWatch, r.rv)
			r.opened()
		}
	}
	r.OnEvent(watch.Event{Type: watch.Error, Object: status(apierrors.NewResourceExpired("too old"))})
	r.wants("after a watch that expired", informer.OpSleep, "")
	r.is("errors told of a watch that expired", 0, r.told)
	r.sleeps()
}

// opened opens the watch that is asked for, if it is not open already.
func (r *reflected) opened() {
	if !r.StreamOpen() {
		r.OnWatchOpened()
	}
	r.since, r.events = r.now, 0
}

// pass lets time pass that nobody is told of before something else happens.
func (r *reflected) pass(d time.Duration) {
	r.now = r.now.Add(d)
	r.SetTime(r.now)
}

// resync has the timer fire, and reports whether the round is over.
func (r *reflected) resync() (over bool) {
	resyncs := r.q.resyncs
	at, runs := r.NextResync()
	r.is("the resync timer of a watch", true, runs)
	if at.After(r.now) {
		r.now = at
	}
	r.OnTime(r.now)
	r.is("resyncs", resyncs+1, r.q.resyncs)
	if r.q.full {
		r.wants("after a resync that failed", informer.OpSleep, "")
		r.sleeps()
		return true
	}
	at, _ = r.NextResync()
	r.is("the next resync", r.now.Add(resyncPeriod), at)
	return false
}

// resyncBetween has the timer fire while no watch is open: one that fails ends the next.
func (r *reflected) resyncBetween() (over bool) {
	resyncs := r.q.resyncs
	r.pass(2 * time.Second)
	r.OnWatchClosed(nil)
	r.wants("after a watch that closed", informer.OpWatch, r.rv)
	asked := r.now
	if at, _ := r.NextResync(); r.now.Before(at) {
		r.now = at
	}
	r.OnTime(r.now)
	r.is("resyncs", resyncs+1, r.q.resyncs)
	if r.oneIn(3) {
		r.OnWatchOpenError(errors.New("no"))
		r.wants("after a watch that could not be opened", informer.OpSleep, "")
		r.told = 0
		r.sleeps()
		return true
	}
	r.opened()
	r.since = asked
	if r.q.full {
		r.wants("after a resync that failed while a watch was opened", informer.OpSleep, "")
		r.sleeps()
		return true
	}
	return false
}

// broken has the watch end with an internal error, or a frame that cannot be read. For a while it is opened again at once (I34).
func (r *reflected) broken() (over bool) {
	r.pass(time.Duration(r.IntN(5)) * 9 * time.Second)
	if r.oneIn(4) {
		r.pass(time.Minute)
	}
	if r.oneIn(2) {
		r.OnWatchClosed(errors.New("a frame that cannot be read"))
	} else {
		r.OnEvent(watch.Event{Type: watch.Error, Object: status(apierrors.NewInternalError(errors.New("broken")))})
	}
	if r.first.IsZero() || r.now.Sub(r.last) >= time.Minute {
		r.first = r.now
	}
	r.last = r.now
	if r.now.Sub(r.first) > retried {
		r.wants(fmt.Sprint("after internal errors for ", r.now.Sub(r.first)), informer.OpSleep, "")
		r.sleeps()
		return true
	}
	r.wants("after an internal error", informer.OpWatch, r.rv)
	r.opened()
	return false
}

func status(err *apierrors.StatusError) *metav1.Status { return &err.ErrStatus }
