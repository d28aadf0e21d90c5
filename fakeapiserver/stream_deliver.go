package fakeapiserver

import (
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// wake offers delivery after the cache has applied an event.
func (s *stream) wake() {
	if !s.call.offered {
		s.offer()
	}
}

// offer offers `deliver` to the kernel if there is something to deliver.
func (s *stream) offer() {
	if s.open && s.blocked == 0 && !s.call.offered && s.call.state == stateOpen && s.hasNext() {
		s.call.offer(KindDeliver)
	}
}

func (s *stream) hasNext() bool {
	return s.closing != nil || len(s.resend) > 0 || len(s.initial) > 0 || s.initialEnd || s.seek() || s.bookmarkReady()
}

// seek moves the cursor to the next event that the client must see, and reports whether there is one.
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

// reached returns the revision up to which the client has seen everything.
func (s *stream) reached() int64 {
	if s.pos >= s.cache.pos {
		return s.cache.rev
	}
	return s.cache.view.At(s.pos).Revision() - 1
}

// classify returns the type of a version's event in this watch, "" if none: an object that enters or leaves the selection is
// ADDED or DELETED (S17, I106).
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

// deliver delivers the next frame to the client.
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
		// The frame became obsolete after its delivery was offered.
	case s.bookmarkReady() && s.pos >= s.bookmarkPos:
		s.bookmarkDue = false
		s.sendBookmark(s.dueBookmarkRevision(), false)
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
	s.progressed()
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

// transmit delivers a frame to the client, through the waiting fault if there is one.
func (s *stream) transmit(display string, e Event, end bool) {
	if s.frameFault != nil {
		s.deliverFaulty(&frame{display: display, event: e, end: end})
		return
	}
	s.deliverEvent(display, &e)
}

func (s *stream) deliverEvent(display string, e *Event) {
	if s.call.client.cluster.distortion.Event != nil {
		s.distort(display, e)
		return
	}
	s.hand(display, e)
}

// hand hands an event to the client.
func (s *stream) hand(display string, e *Event) {
	c := s.call
	if p, ok := c.receiver.(Preparer); ok {
		if err := p.PrepareEvent(e); err != nil {
			s.closeWith(closing{why: "its next event cannot be sent: " + err.Error()})
			return
		}
	}
	cluster := c.client.cluster
	r := cluster.kernel.Record(c.client.id, KindFrame)
	r.Key, r.RV, r.N, r.Detail, r.Obj = display, e.Rev, int64(c.id), string(e.Type), e.Object
	cluster.kernel.Emit(r)
	if len(cluster.triggers) > 0 {
		cluster.fireTriggers(fault.TriggerFrame, c.client, c.res, e.Key, string(e.Type))
	}
	c.receiver.OnEvent(c.id, *e)
}

// deliverEnd delivers the end to the client: the ERROR event, if there is one, and then, by another choice, the close.
func (s *stream) deliverEnd() {
	how, c := s.closing, s.call
	if st := how.status; st != nil {
		s.closing = &closing{err: how.err, why: how.why}
		r := c.kernel().Record(c.client.id, KindFrame)
		r.N, r.Detail, r.Obj, r.Note = int64(c.id), string(watch.Error), st, codeText(st)
		c.kernel().Emit(r)
		c.receiver.OnEvent(c.id, Event{Type: watch.Error, Object: st})
		s.offer()
		return
	}
	s.detach()
	s.emitClosed(how.why, how.err)
	c.finish()
	c.receiver.OnWatchClosed(c.id, how.err)
}

// deliverFrame delivers a frame unchanged.
func (s *stream) deliverFrame(f *frame) { s.deliverEvent(f.display, &f.event) }
