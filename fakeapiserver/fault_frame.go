package fakeapiserver

import (
	"io"
	"strconv"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// Breakage says how a frame breaks on the wire.
type Breakage uint8

const (
	// CutFrame ends the connection somewhere in the bytes of the frame.
	CutFrame Breakage = iota + 1
	// CutLength ends it in the length before the frame (or in its first byte, where frames have no length).
	CutLength
	// Garbage sends bytes in place of the frame that are not one; the connection goes on.
	Garbage
)

// WireReceiver is a Receiver that has bytes to break: it is told of the frame that breaks, and how, and what its client makes
// of that is the client's. A Receiver that is none is told what the decoder of a client would have said.
type WireReceiver interface {
	Receiver
	OnBrokenFrame(req ReqID, e Event, how Breakage)
}

// frame is what a deliver brings to the client.
type frame struct {
	display string
	event   Event
	end     bool // the bookmark that ends the initial events
}

// mangling is a fault that waits for the next frame of a watch.
type mangling struct {
	fault Fault
	held  *frame // of a reordering: the frame that comes after the next
}

// concerns tells whether the fault is about the frame.
func (m *mangling) concerns(f *frame) bool {
	bookmark := f.event.Type == watch.Bookmark
	switch m.fault.Kind {
	case WatchBookmarkLost:
		return bookmark && !f.end
	case WatchBookmarkLate:
		return bookmark
	case WatchNoEndBookmark:
		return f.end
	}
	if m.fault.Namespace == "" && m.fault.Name == "" {
		return true
	}
	meta, ok := f.event.Object.(metav1.Object)
	return ok && !bookmark &&
		(m.fault.Namespace == "" || m.fault.Namespace == meta.GetNamespace()) &&
		(m.fault.Name == "" || m.fault.Name == meta.GetName())
}

// show brings a frame to the client as it is.
func (s *stream) show(f *frame) { s.tell(f.display, &f.event) }

func (s *stream) tell(display string, e *Event) {
	c := s.call
	cluster := c.client.cluster
	r := cluster.kernel.Record(c.client.id, KindFrame)
	r.Key, r.RV, r.N, r.Detail, r.Obj = display, e.Rev, int64(c.id), string(e.Type), e.Object
	cluster.kernel.Emit(r)
	if len(cluster.triggers) > 0 {
		cluster.happened(TriggerFrame, c.client, c.res, e.Key, string(e.Type))
	}
	c.receiver.OnEvent(c.id, *e)
}

// mangle brings a frame to the client as the fault has it.
func (s *stream) mangle(f *frame) {
	m := s.mangling
	if m.held != nil {
		s.mangling = nil
		s.again = append(s.again, *m.held)
		s.show(f)
		return
	}
	if !m.concerns(f) {
		s.show(f)
		return
	}
	s.mangling = nil
	why := "fault " + string(m.fault.Kind)
	switch m.fault.Kind {
	case WatchDuplicate:
		s.again = append(s.again, *f)
		s.show(f)
	case WatchReorder:
		s.mangling = &mangling{fault: m.fault, held: f}
	case WatchBookmarkLate:
		s.later(f, m.fault)
	case WatchEOFInFrame:
		s.breakFrame(f, CutFrame, closing{err: io.ErrUnexpectedEOF, why: why})
	case WatchCutLength:
		s.breakFrame(f, CutLength, closing{err: io.ErrUnexpectedEOF, why: why})
	case WatchGarbage:
		s.breakFrame(f, Garbage, closing{status: undecodable("invalid character '\\x00' looking for beginning of value"), why: why})
	case WatchDrop, WatchBookmarkLost, WatchNoEndBookmark: // it is gone
	}
	s.call.client.offerFaults()
}

// breakFrame shows what is left of a frame, and ends the watch.
func (s *stream) breakFrame(f *frame, how Breakage, end closing) {
	if w, ok := s.call.receiver.(WireReceiver); ok {
		w.OnBrokenFrame(s.call.id, f.event, how)
		if how == Garbage {
			return // what comes of it is up to the client
		}
	}
	s.closeWith(end)
}

// later sends a bookmark when the fault's duration is over, at the revision that the watch has come to by then.
func (s *stream) later(f *frame, fault Fault) {
	late := *f
	s.late = append(s.late, late)
	if fault.Duration > 0 {
		s.call.kernel().Clock().AfterFunc(fault.Duration, s.sendLate)
	}
}

// sendLate sends the bookmarks that were held back.
func (s *stream) sendLate() {
	for _, f := range s.late {
		rev := s.reached()
		if rev > f.event.Rev {
			obj := f.event.Object.DeepCopyObject()
			if m, ok := obj.(metav1.Object); ok {
				m.SetResourceVersion(strconv.FormatInt(rev, 10))
			}
			f.event.Object, f.event.Rev = obj, rev
		}
		s.again = append(s.again, f)
	}
	s.late = nil
	s.offer()
}

// reached is the revision up to which the client has been told everything.
func (s *stream) reached() int64 {
	if s.pos >= s.cache.pos {
		return s.cache.rev
	}
	return s.cache.view.log.at(s.pos).rev - 1
}

// pass brings a frame to the client, or has a fault meet it.
func (s *stream) pass(display string, e Event, end bool) {
	if s.mangling != nil {
		s.mangle(&frame{display: display, event: e, end: end})
		return
	}
	s.tell(display, &e)
}
