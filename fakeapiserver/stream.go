package fakeapiserver

import (
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
)

const (
	bookmarkEvery       = time.Minute     // about so often (I104)
	bookmarkBeforeClose = 2 * time.Second // and once so long before the server ends the watch (S19)
	minRequestTimeout   = 1800            // seconds; a watch without timeoutSeconds lasts 1 to 2 times as long (I111)
)

// stream is an open watch: a cursor over the log of a watch cache. Exactly one `deliver` is offered for it while there is
// something to deliver.
type stream struct {
	call   *call
	cache  *watchCache
	filter filter
	pos    int64 // the next event of the log to look at; if something is offered and initial is empty, one to deliver
	floor  int64 // events up to this revision are not sent (S14)
	base   int64 // what the opening of the watch has told: bookmarks up to this revision are not sent

	initial     []initialEvent // synthetic ADDED events that are still to be sent
	initialEnd  bool           // the bookmark that ends them is still to be sent
	initialRev  int64          // what the initial state is at
	bookmarks   bool
	bookmarkDue bool
	bookmarkRev int64
	bookmarkPos int64 // the due bookmark comes before the event at this position

	frameFault    *frameFault // a fault that waits for the next frame
	resend        []frame     // what it makes come again, or later: before anything else
	lateBookmarks []frame     // bookmarks that it holds back

	nextType watch.EventType // of the event at pos
	closing  *closing        // the end of the watch is still to be delivered
	timer    interface{ Stop() bool }
	deadline time.Duration // virtual time at which the server ends the watch
	open     bool          // the client has been told that the watch is open
	blocked  int           // how many faults and holds are on it: nothing is delivered until it is 0
	holds    int           // how many of those are SetHeld's
	silent   bool          // the server has forgotten the watch: neither bookmarks nor a deadline come
	dead     bool          // the connection is gone, and only the client's health check will tell
}

// initialEvent is what an object was when the watch was opened.
type initialEvent struct {
	entry *store.Entry
	obj   runtime.Object
	memo  *store.Memo
	rev   int64
}

// closing is how a watch ends.
type closing struct {
	status *metav1.Status // sent as an ERROR event first, if not nil
	err    error          // how the connection breaks, nil for a clean end
	why    string
}

// start places the cursor and lets the watch be answered.
func (s *stream) start(rev int64, initial bool) {
	c := s.cache
	switch {
	case initial:
		s.pos, s.initialRev, s.base = c.pos, c.rev, c.rev
		c.view.Walk(c.rev, s.filter.namespace, "", func(v *store.Version) bool {
			if !s.filter.selects() || s.filter.matches(v.Object()) {
				s.initial = append(s.initial, initialEvent{v.Entry(), v.Object(), v.Memo(), v.Revision()})
			}
			return true
		})
		s.initialEnd = s.bookmarks
	case rev == 0:
		s.pos, s.base = c.pos, c.rev
	case rev < c.oldestWatch():
		s.refuse(errTooOld(rev, c.oldestWatch()))
		return
	default:
		s.pos, s.floor, s.base = min(c.view.After(rev), c.pos), rev, rev
		if s.pos < c.pos {
			s.base = c.view.At(c.pos - 1).Revision()
		}
	}
	s.setDeadline()
	c.streams = append(c.streams, s)
	s.call.watch = s
	s.call.answer(nil)
	if t := s.call.options.TimeoutSeconds; t != nil && *t < 0 {
		s.closeWith(closing{why: "timeout"}) // before anything is sent (S19)
	}
}

// refuse lets the watch be opened, with an ERROR as its only event (S13).
func (s *stream) refuse(err error) {
	s.call.watch = s
	s.closing = &closing{status: statusOf(err), why: "refused: " + err.Error()}
	s.call.answer(nil)
}

func (s *stream) setDeadline() {
	clock := s.call.kernel().Clock()
	d := time.Duration(0)
	if t := s.call.options.TimeoutSeconds; t != nil && *t != 0 {
		d = time.Duration(min(max(*t, 0), 1<<31)) * time.Second
	} else {
		d = time.Duration(minRequestTimeout * (1 + s.call.kernel().Stream("server/watch-timeout").Float64()) * float64(time.Second))
	}
	s.deadline = clock.Elapsed() + d
	s.setTimer()
}

// setTimer waits for the deadline or the next bookmark, whichever is earlier.
func (s *stream) setTimer() {
	clock := s.call.kernel().Clock()
	left := s.deadline - clock.Elapsed()
	if s.bookmarks {
		if before := left - bookmarkBeforeClose; before > 0 {
			s.timer = clock.AfterFunc(min(bookmarkEvery, before), s.bookmark)
			return
		}
	}
	s.timer = clock.AfterFunc(left, func() {
		if !s.silent {
			s.closeWith(closing{why: "timeout"})
		}
	})
}

// bookmark makes a bookmark due. The cache asks the Store how far it is, so that bookmarks cover writes of other resources
// (S19).
func (s *stream) bookmark() {
	if s.silent || s.closing != nil {
		return
	}
	s.setTimer()
	if len(s.initial) > 0 || s.initialEnd {
		return // none before the end of the initial state
	}
	s.cache.requestProgress()
	s.bookmarkDue, s.bookmarkRev, s.bookmarkPos = true, s.cache.rev, s.cache.pos
	if !s.bookmarkReady() && !s.cache.behind() {
		s.bookmarkDue = false // it would tell nothing, and nothing is on its way that it could
	}
	s.offer()
}

// bookmarkAt is the revision that the due bookmark would carry now.
func (s *stream) bookmarkAt() int64 {
	if s.pos >= s.cache.pos {
		return s.cache.rev
	}
	return s.bookmarkRev
}

// bookmarkReady tells whether a bookmark is due that tells more than the opening of the watch did. Others are not sent.
func (s *stream) bookmarkReady() bool { return s.bookmarkDue && s.bookmarkAt() > s.base }

// opened lets frames flow, once the client knows that the watch is open.
func (s *stream) opened() {
	s.open = true
	s.offer()
}

// wake is called when the cache has applied an event.
func (s *stream) wake() {
	if !s.call.offered {
		s.offer()
	}
}

// offer tells the kernel if there is something to deliver.
func (s *stream) offer() {
	if s.open && s.blocked == 0 && !s.call.offered && s.call.state == stateOpen && s.hasNext() {
		s.call.offer(KindDeliver)
	}
}

func (s *stream) hasNext() bool {
	return s.closing != nil || len(s.resend) > 0 || len(s.initial) > 0 || s.initialEnd || s.seek() || s.bookmarkReady()
}

// seek moves the cursor to the next event that the client is to see.
func (s *stream) seek() bool {
	c := s.cache
	for ; s.pos < c.pos; s.pos++ {
		v := c.view.At(s.pos)
		if v.Revision() <= s.floor {
			continue // S14
		}
		if s.nextType = s.classify(v); s.nextType != "" {
			return true
		}
	}
	return false
}

// reached is the revision up to which the client has been told everything.
func (s *stream) reached() int64 {
	if s.pos >= s.cache.pos {
		return s.cache.rev
	}
	return s.cache.view.At(s.pos).Revision() - 1
}

// classify is what a version is to this watch, "" if nothing: an object that enters or leaves what is selected is added or
// deleted (S17, I106).
func (s *stream) classify(v *store.Version) watch.EventType {
	if s.filter.namespace != "" && !v.Entry().In(s.filter.namespace) {
		return ""
	}
	if !s.filter.selects() {
		return v.Event()
	}
	old := v.Before()
	was := old != nil && s.filter.matches(old.Object())
	is := !v.Deleted() && s.filter.matches(v.Object())
	switch {
	case is && was:
		return watch.Modified
	case is:
		return watch.Added
	case was:
		return watch.Deleted
	}
	return ""
}

// deliver brings the next frame to the client.
func (s *stream) deliver() {
	switch {
	case s.closing != nil:
		s.deliverEnd()
		return
	case len(s.resend) > 0:
		f := s.resend[0]
		s.resend = s.resend[1:]
		s.deliverFrame(&f)
	case len(s.initial) > 0:
		e := s.initial[0]
		s.initial[0] = initialEvent{}
		s.initial = s.initial[1:]
		s.send(e.entry, watch.Added, e.obj, e.memo, e.rev)
	case s.initialEnd:
		s.initialEnd = false
		s.sendBookmark(s.initialRev, true)
	case !s.seek() && !s.bookmarkReady():
		// What was to be delivered is not to be delivered any more.
	case s.bookmarkReady() && s.pos >= s.bookmarkPos:
		s.bookmarkDue = false
		s.sendBookmark(s.bookmarkAt(), false)
	default:
		v := s.cache.view.At(s.pos)
		obj, memo := v.Object(), v.Memo()
		if s.nextType == watch.Deleted && !v.Deleted() {
			// Leaving the selection shows the previous object with the new revision (S17).
			obj = s.call.client.cluster.store.WithRevision(v.Before().Object(), v.Revision())
			memo = nil
		}
		s.pos++
		s.send(v.Entry(), s.nextType, obj, memo, v.Revision())
	}
	s.offer()
}

func (s *stream) send(e *store.Entry, t watch.EventType, obj runtime.Object, memo *store.Memo, rev int64) {
	s.transmit(e.Display(), Event{Type: t, Object: obj, Memo: memo, Key: e.Key(), Rev: rev}, false)
}

func (s *stream) sendBookmark(rev int64, end bool) {
	obj := s.filter.resource.Empty()
	if m, ok := obj.(metav1.Object); ok {
		m.SetResourceVersion(strconv.FormatInt(rev, 10))
		if end {
			m.SetAnnotations(map[string]string{metav1.InitialEventsAnnotationKey: "true"})
		}
	}
	s.transmit("", Event{Type: watch.Bookmark, Object: obj, Rev: rev}, end)
}

// transmit brings a frame to the client, or has a fault meet it.
func (s *stream) transmit(display string, e Event, end bool) {
	if s.frameFault != nil {
		s.deliverFaulty(&frame{display: display, event: e, end: end})
		return
	}
	s.deliverEvent(display, &e)
}

func (s *stream) deliverEvent(display string, e *Event) {
	c := s.call
	cluster := c.client.cluster
	r := cluster.kernel.Record(c.client.id, KindFrame)
	r.Key, r.RV, r.N, r.Detail, r.Obj = display, e.Rev, int64(c.id), string(e.Type), e.Object
	cluster.kernel.Emit(r)
	if len(cluster.triggers) > 0 {
		cluster.fireTriggers(fault.TriggerFrame, c.client, c.res, e.Key, string(e.Type))
	}
	c.receiver.OnEvent(c.id, *e)
}

// closeWith ends the watch: its end is the next thing that is delivered.
func (s *stream) closeWith(how closing) {
	if s.closing != nil || s.call.state == stateFinished {
		return
	}
	if s.dead && how.err != ErrConnectionLost {
		s.detach() // the server has ended it, but nothing gets through
		return
	}
	s.closing, s.blocked = &how, 0
	s.initial, s.initialEnd, s.bookmarkDue = nil, false, false
	s.resend, s.lateBookmarks, s.frameFault = nil, nil, nil
	s.detach()
	s.offer()
	s.call.client.offerFaults()
}

// detach takes the watch off its cache and clock. Bookmarks that are held back will not come any more.
func (s *stream) detach() {
	s.cache.removeStream(s)
	s.lateBookmarks = nil // what they are about may be gone when their time comes
	if s.timer != nil {
		s.timer.Stop()
	}
}

// canceled is the client's end of the watch.
func (s *stream) canceled() {
	s.detach()
	s.emitClosed("canceled by the client")
}

// deliverEnd brings the end to the client: the ERROR event, if there is one, and then, by another choice, the close.
func (s *stream) deliverEnd() {
	how, c := s.closing, s.call
	if st := how.status; st != nil {
		s.closing = &closing{err: how.err, why: how.why}
		r := c.kernel().Record(c.client.id, KindFrame)
		r.N, r.Detail, r.Obj = int64(c.id), string(watch.Error), st
		c.kernel().Emit(r)
		c.receiver.OnEvent(c.id, Event{Type: watch.Error, Object: st})
		s.offer()
		return
	}
	s.detach()
	s.emitClosed(how.why)
	c.finish()
	c.receiver.OnWatchClosed(c.id, how.err)
}

func (s *stream) emitClosed(why string) {
	r := s.call.kernel().Record(s.call.client.id, KindWatchClosed)
	r.N, r.Detail = int64(s.call.id), why
	s.call.kernel().Emit(r)
}
