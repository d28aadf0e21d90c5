package fakeapiserver

import (
	"io"
	"net/http"
	"time"
)

// halfOpenAfter is when a client with the default settings gives up a dead connection: ReadIdleTimeout and PingTimeout of
// HTTP/2, 30 s and 15 s.
const halfOpenAfter = 45 * time.Second

// strike has the fault hit an open watch.
func (s *stream) strike(f Fault) {
	why := "fault " + string(f.Kind)
	switch f.Kind {
	case WatchClose:
		s.closeWith(closing{why: why})
	case WatchSlow:
		s.closeWith(closing{why: why + ": too slow"})
	case WatchEOF:
		s.closeWith(closing{err: io.ErrUnexpectedEOF, why: why})
	case WatchReset:
		s.closeWith(closing{err: errReset, why: why})
	case Watch410:
		s.closeWith(closing{status: errorFrame(http.StatusGone, "The resourceVersion for the provided watch is too old."), why: why})
	case Watch500:
		s.closeWith(closing{status: errorFrame(http.StatusInternalServerError, "etcdserver: no leader"), why: why})
	case WatchStall:
		s.silent = true
		s.block(f.Duration)
	case WatchDelay:
		s.block(f.Duration)
	case WatchHalfOpen:
		s.silent, s.dead = true, true
		s.block(0)
		s.call.kernel().Clock().AfterFunc(halfOpenAfter, func() {
			s.closeWith(closing{err: ErrConnectionLost, why: why})
		})
	}
}

// forgive ends what a fault was to do to the next frame.
func (s *stream) forgive() {
	if held := s.mangling.held; held != nil {
		s.again = append(s.again, *held)
	}
	s.mangling = nil
	s.offer()
}

// block holds the watch's frames for a while, 0 for until healed.
func (s *stream) block(d time.Duration) {
	s.blocked++
	s.call.withdraw()
	if d > 0 {
		s.call.kernel().Clock().AfterFunc(d, s.unblock)
	}
}

func (s *stream) unblock() {
	if s.blocked == 0 {
		return
	}
	if s.blocked--; s.blocked == 0 {
		s.heal()
	}
}

// heal lets frames flow again. A server that comes to itself after the deadline ends the watch.
func (s *stream) heal() {
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
