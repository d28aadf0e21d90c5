package fakeapiserver

import (
	"io"
	"net/http"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/fakeapiserver/fault"
)

// halfOpenAfter is when a client with default settings gives up a dead connection: HTTP/2's ReadIdleTimeout and PingTimeout, 30 s
// and 15 s.
const halfOpenAfter = 45 * time.Second

// eligibleFaults returns the set of faults that can hit the watch now.
func (s *stream) eligibleFaults() fault.Set {
	if s.closing != nil {
		return 0
	}
	m := fault.At(fault.OnStream)
	if s.blocked > 0 {
		m &^= blockingMask
	}
	if s.frameFault == nil {
		m |= fault.At(fault.OnFrame)
		if !s.bookmarks {
			m &^= bookmarkMask
		}
		if !s.initialEnd {
			m &^= noEndMask
		}
	}
	return m
}

// applyFault applies a fault to an open watch.
func (s *stream) applyFault(f fault.Fault) {
	why := "fault " + string(f.Kind)
	s.call.spent.hit(f.Kind)
	switch f.Kind {
	case fault.WatchClose:
		s.closeWith(closing{why: why})
	case fault.WatchSlow:
		s.closeWith(closing{why: why + ": too slow"})
	case fault.WatchEOF:
		s.closeWith(closing{err: io.ErrUnexpectedEOF, why: why})
	case fault.WatchReset:
		s.closeWith(closing{err: errReset, why: why})
	case fault.Watch410:
		s.closeWith(closing{status: errorFrame(http.StatusGone, "The resourceVersion for the provided watch is too old."), why: why})
	case fault.Watch500:
		s.closeWith(closing{status: errorFrame(http.StatusInternalServerError, "etcdserver: no leader"), why: why})
	case fault.WatchStall:
		s.silent = true
		s.block(f.Duration)
	case fault.WatchDelay:
		s.block(f.Duration)
	case fault.WatchHalfOpen:
		s.silent, s.dead = true, true
		s.block(0)
		s.call.kernel().Clock().AfterFunc(halfOpenAfter, func() {
			s.closeWith(closing{err: ErrConnectionLost, why: why})
		})
	}
}

// clearFrameFault removes the fault that waits for the next frame.
func (s *stream) clearFrameFault() {
	if held := s.frameFault.reordered; held != nil {
		s.resend = append(s.resend, *held)
	}
	s.frameFault = nil
	s.offer()
}

// block holds the watch's frames for d; if d is 0, until resume.
func (s *stream) block(d time.Duration) {
	s.blocked++
	s.call.withdraw()
	s.call.client.cluster.expireAfter(d, s.unblock)
}

func (s *stream) unblock() {
	if s.blocked == 0 {
		return
	}
	if s.blocked--; s.blocked == 0 {
		s.resume()
	}
}

// resume lets frames flow again. A server whose stall outlasted the deadline ends the watch.
func (s *stream) resume() {
	s.blocked, s.holds = 0, 0
	if s.silent {
		s.silent = false
		if s.call.state == stateOpen && s.call.kernel().Elapsed() >= s.deadline {
			s.closeWith(closing{why: "timeout"})
		} else if s.call.state == stateOpen && s.closing == nil {
			s.timer.Stop()
			s.setTimer()
		}
	}
	s.offer()
	s.call.client.offerFaults()
}

// deliverFaulty delivers a frame as the waiting fault changes it.
func (s *stream) deliverFaulty(f *frame) {
	ff := s.frameFault
	if ff.reordered != nil {
		s.frameFault = nil
		s.resend = append(s.resend, *ff.reordered)
		s.deliverFrame(f)
		return
	}
	if !ff.hits(f) {
		s.deliverFrame(f)
		return
	}
	s.frameFault = nil
	why := "fault " + string(ff.fault.Kind)
	switch ff.fault.Kind {
	case fault.WatchDuplicate:
		s.resend = append(s.resend, *f)
		s.deliverFrame(f)
	case fault.WatchReorder:
		s.frameFault = &frameFault{fault: ff.fault, reordered: f}
	case fault.WatchBookmarkLate:
		s.delayBookmark(f, ff.fault)
	case fault.WatchBookmarkEarly:
		s.resend = append(s.resend, *f)
		s.sendBookmark(s.initialRev, false)
	case fault.WatchOldDelete:
		s.deliverOldDelete(f)
	case fault.WatchEndUnmarked:
		f.event.Object = f.event.Object.DeepCopyObject()
		if m, ok := f.event.Object.(metav1.Object); ok {
			m.SetAnnotations(nil)
		}
		s.deliverFrame(f)
	case fault.WatchEOFInFrame:
		s.breakFrame(f, CutFrame, closing{err: io.ErrUnexpectedEOF, why: why})
	case fault.WatchCutLength:
		s.breakFrame(f, CutLength, closing{err: io.ErrUnexpectedEOF, why: why})
	case fault.WatchGarbage:
		s.breakFrame(f, Garbage, closing{status: decodingError("invalid character '\\x00' looking for beginning of value"), why: why})
	case fault.WatchDrop, fault.WatchBookmarkLost, fault.WatchNoEndBookmark: // dropped
	}
	s.call.client.offerFaults()
}

// breakFrame delivers a broken frame and ends the watch.
func (s *stream) breakFrame(f *frame, how Breakage, end closing) {
	if w, ok := s.call.receiver.(WireReceiver); ok {
		w.OnBrokenFrame(s.call.id, f.event, how)
		if how == Garbage {
			return // the client decides what to do about it
		}
	}
	s.closeWith(end)
}

// delayBookmark sends a bookmark after the fault's duration, at the revision that the watch has reached by then.
func (s *stream) delayBookmark(f *frame, fault fault.Fault) {
	late := *f
	s.lateBookmarks = append(s.lateBookmarks, late)
	s.call.client.cluster.expireAfter(fault.Duration, s.sendLateBookmarks)
}

// sendLateBookmarks sends the bookmarks that were held back.
func (s *stream) sendLateBookmarks() {
	for _, f := range s.lateBookmarks {
		rev := s.reached()
		if rev > f.event.Rev {
			obj := f.event.Object.DeepCopyObject()
			if m, ok := obj.(metav1.Object); ok {
				m.SetResourceVersion(strconv.FormatInt(rev, 10))
			}
			f.event.Object, f.event.Rev = obj, rev
		}
		s.resend = append(s.resend, f)
	}
	s.lateBookmarks = nil
	s.offer()
}
