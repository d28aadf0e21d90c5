package informer

import (
	"time"

	"k8s.io/client-go/tools/cache"
)

// crashBackoff is the delay before the next call after a handler panics (I85).
const crashBackoff = time.Second

// Listener is one registered handler with its own unbounded ring of notifications, delivered one after the other (I83,
// I84). A delivery is either one step, Deliver, or three: Begin, the call, Finish. Between Begin and Finish the handler is
// running, as slowly as the caller likes, and blocks no other listener.
type Listener struct {
	id        int
	name      string
	handler   cache.ResourceEventHandler
	processor *Processor

	pending ring
	current *Notification // in flight, between Begin and Finish: the oldest of pending, until that is dropped
	removed bool

	initialPending int // unfinished adds of the initial list (I86)
	synced         bool

	crashed      bool      // the last call panicked
	backoffUntil time.Time // zero: the backoff has not begun

	syncing         bool
	requestedResync time.Duration
	resyncPeriod    time.Duration
	nextResync      time.Time
}

// ID returns the listener's number. A Processor numbers its listeners from 0 in the order they were added and never reuses
// a number.
func (l *Listener) ID() int { return l.id }

// Name returns the name given when the listener was added.
func (l *Listener) Name() string { return l.name }

// Len returns the number of pending notifications, not counting one in flight.
func (l *Listener) Len() int {
	n := l.pending.len()
	if n > 0 && l.current != nil {
		n--
	}
	return n
}

// Peek returns the notification that Begin would take, or nil. It is valid until the listener changes.
func (l *Listener) Peek() *Notification {
	switch {
	case l.Len() == 0:
		return nil
	case l.current != nil:
		return l.pending.at(1)
	}
	return l.pending.at(0)
}

// InFlight returns the notification between Begin and Finish, or nil.
func (l *Listener) InFlight() *Notification { return l.current }

// Removed reports whether the listener was removed or its processor stopped.
func (l *Listener) Removed() bool { return l.removed }

// Syncing reports whether the listener receives updates that changed nothing (I75, I76).
func (l *Listener) Syncing() bool { return l.syncing }

// ResyncPeriod returns the effective period, 0 for none (I78).
func (l *Listener) ResyncPeriod() time.Duration { return l.resyncPeriod }

// NextResync returns the earliest time of the next resync. It is meaningless if ResyncPeriod is 0.
func (l *Listener) NextResync() time.Time { return l.nextResync }

// HasSynced reports whether the informer has synced and the handler has returned from every add of the initial list (I86).
// Once true it stays true.
func (l *Listener) HasSynced() bool {
	if !l.synced {
		up := l.processor.UpstreamHasSynced
		l.synced = l.initialPending == 0 && up != nil && up()
	}
	return l.synced
}

func (l *Listener) add(n *Notification) {
	if n.IsInInitialList && n.Type == NotifyAdd {
		l.initialPending++
	}
	*l.pending.push() = *n
}

// Begin puts the oldest notification in flight. It returns nil if there is none, if one is already in flight, or if the
// listener is backing off after a crash. The notification is valid until Finish or Crash.
func (l *Listener) Begin() *Notification {
	if l.current != nil || l.crashed || l.pending.len() == 0 {
		return nil
	}
	l.current = l.pending.at(0)
	return l.current
}

// Finish reports that the handler returned from the call in flight.
func (l *Listener) Finish() {
	if l.current == nil {
		return
	}
	if l.current.IsInInitialList && l.current.Type == NotifyAdd {
		l.initialPending--
	}
	l.popInFlight()
}

// popInFlight removes the notification in flight from the ring.
func (l *Listener) popInFlight() {
	l.current = nil
	if l.pending.len() > 0 { // it was not dropped
		l.pending.pop()
	}
}

// Crash reports that the handler panicked. The item is skipped; an add of the initial list never counts as finished then,
// so the listener never syncs. The listener backs off for a second before the next item: see CrashBackoff (I85).
func (l *Listener) Crash() {
	if l.current == nil {
		return
	}
	l.popInFlight()
	l.crashed = true
	l.backoffUntil = time.Time{}
}

// CrashBackoff reports whether a crashed listener is backing off, and until when. The backoff begins with the first call
// that sees the next item and ends with the first call at or after the returned time.
func (l *Listener) CrashBackoff(now time.Time) (until time.Time, active bool) {
	if !l.crashed || l.pending.len() == 0 {
		return time.Time{}, false
	}
	if l.backoffUntil.IsZero() {
		l.backoffUntil = now.Add(crashBackoff)
	}
	if now.Before(l.backoffUntil) {
		return l.backoffUntil, true
	}
	l.crashed = false
	return time.Time{}, false
}

// Deliver delivers the oldest notification in one step: Begin, the call, Finish. It returns false if Begin returned nil. A
// panic of the handler propagates; the caller that recovers from it must call Crash.
func (l *Listener) Deliver() bool {
	n := l.Begin()
	if n == nil {
		return false
	}
	n.Call(l.handler)
	l.Finish()
	return true
}

// drop discards all pending notifications.
func (l *Listener) drop() {
	l.removed = true
	l.pending = ring{}
}
