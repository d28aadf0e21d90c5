package fakeapiserver

import (
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/store"
)

const (
	bookmarkEvery       = time.Minute     // approximately (I104)
	bookmarkBeforeClose = 2 * time.Second // one more comes this long before the server ends the watch (S19)
	minRequestTimeout   = 1800            // seconds; a watch without timeoutSeconds lasts 1 to 2 times as long (I111)
)

// stream is an open watch: a cursor over the log of a watch cache. It offers exactly one `deliver` while there is something to
// deliver; stream_deliver.go delivers, stream_faults.go applies faults.
type stream struct {
	call   *call
	cache  *watchCache
	filter filter
	pos    int64 // the next event of the log to look at; if something is offered and initial is empty, one to deliver
	floor  int64 // events up to this revision are not sent (S14)
	base   int64 // the revision known to the client from opening: bookmarks up to it are not sent

	initial     []initialEvent // synthetic ADDED events still to be sent
	initialEnd  bool           // the bookmark that ends them is still to be sent
	initialRev  int64          // the revision of the initial state
	bookmarks   bool
	bookmarkDue bool
	bookmarkRev int64
	bookmarkPos int64 // the due bookmark comes before the event at this position

	frameFault    *frameFault // a fault that waits for the next frame
	resend        []frame     // frames that a fault repeats or delays; sent before anything else
	lateBookmarks []frame     // bookmarks that a fault holds back

	nextType watch.EventType // of the event at pos
	closing  *closing        // the end of the watch, still to be delivered
	timer    interface{ Stop() bool }
	deadline time.Duration // virtual time at which the server ends the watch
	open     bool          // the client has been told that the watch is open
	blocked  int           // number of faults and holds; nothing is delivered until it is 0
	holds    int           // how many of those are SetHeld's
	silent   bool          // the server stalls: no bookmarks, and no end at the deadline
	dead     bool          // the connection is dead, which only the client's health check finds
}

// initialEvent is an object's state when the watch was opened.
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

// start places the cursor and answers the request.
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

// refuse opens the watch with an ERROR as its only event (S13).
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
	if f := s.call.client.cluster.distortion.Lifetime; f != nil {
		d = f(d)
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
		if s.silent {
			return
		}
		s.closeWith(closing{why: "timeout"})
		if c := s.call; c.state == stateAnswered {
			c.clearFault() // however slow the answer is, the request is over now
		}
	})
}

// bookmark makes a bookmark due. The cache asks the Store for its progress, so that bookmarks cover writes of other resources
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
		s.bookmarkDue = false // it would carry no news, and none is pending
	}
	s.offer()
}

// dueBookmarkRevision returns the revision that the due bookmark would carry now.
func (s *stream) dueBookmarkRevision() int64 {
	if s.pos >= s.cache.pos {
		return s.cache.rev
	}
	return s.bookmarkRev
}

// bookmarkReady reports whether a bookmark is due that is newer than the opening of the watch. Others are not sent.
func (s *stream) bookmarkReady() bool { return s.bookmarkDue && s.dueBookmarkRevision() > s.base }

// opened lets frames flow, once the client knows that the watch is open.
func (s *stream) opened() {
	s.open = true
	s.offer()
}

// closeWith ends the watch: its end is delivered next.
func (s *stream) closeWith(how closing) {
	if s.closing != nil || s.call.state == stateFinished {
		return
	}
	if s.dead && how.err != ErrConnectionLost {
		s.detach() // the server ends it, but nothing reaches the client
		return
	}
	s.closing, s.blocked = &how, 0
	s.initial, s.initialEnd, s.bookmarkDue = nil, false, false
	s.resend, s.lateBookmarks, s.frameFault = nil, nil, nil
	s.detach()
	s.offer()
	s.call.client.offerFaults()
}

// detach removes the watch from its cache and clock. Held-back bookmarks are dropped.
func (s *stream) detach() {
	s.cache.removeStream(s)
	s.lateBookmarks = nil // their history may be gone when they are due
	if s.timer != nil {
		s.timer.Stop()
	}
}

// canceled ends the watch for its client.
func (s *stream) canceled() {
	s.detach()
	s.emitClosed(CanceledByClient, nil)
}

func (s *stream) emitClosed(why string, err error) {
	r := s.call.kernel().Record(s.call.client.id, KindWatchClosed)
	if r.N, r.Detail = int64(s.call.id), why; err != nil {
		r.Obj = err
	}
	s.call.kernel().Emit(r)
}
