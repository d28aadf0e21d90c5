package informer

import (
	"time"

	"k8s.io/client-go/tools/cache"
)

// crashPause is how long a listener rests after its handler panicked (I85).
const crashPause = time.Second

// Listener is one registered handler with its own unbounded ring of notifications, delivered one after the other (I83,
// I84). A delivery is either one step, Deliver, or three: Begin, the call, Finish. Between Begin and Finish the handler is
// running, as slowly as the caller likes, and holds up nobody else.
type Listener struct {
	id        int
	name      string
	handler   cache.ResourceEventHandler
	processor *Processor

	pending ring
	current *Notification // in flight, between Begin and Finish: the oldest one of pending, until that is dropped
	removed bool

	initialPending int // adds of the initial list that are not finished (I86)
	synced         bool

	crashed    bool      // the last call panicked
	restsUntil time.Time // zero: not resting yet

	syncing         bool
	requestedResync time.Duration
	resyncPeriod    time.Duration
	nextResync      time.Time
}

// ID numbers the listeners of a Processor in the order in which they were added, from 0. Numbers are not reused.
func (l *Listener) ID() int { return l.id }

// Name is the one given when the listener was added.
func (l *Listener) Name() string { return l.name }

// Len is the number of notifications that wait; one in flight is not counted.
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

// Removed says whether the listener was removed or its processor stopped.
func (l *Listener) Removed() bool { return l.removed }

// Syncing says whether the listener gets updates that changed nothing (I75, I76).
func (l *Listener) Syncing() bool { return l.syncing }

// ResyncPeriod is the period in force, 0 for none (I78).
func (l *Listener) ResyncPeriod() time.Duration { return l.resyncPeriod }

// NextResync is the earliest time of the next resync. It has no meaning if ResyncPeriod is 0.
func (l *Listener) NextResync() time.Time { return l.nextResync }

// HasSynced says whether the informer has synced and the handler has returned from every add of the initial list (I86).
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

// Begin takes the oldest notification into flight. It returns nil if there is none, if one is in flight already, or if the
// listener rests after a crash. The notification is valid until Finish or Crash.
func (l *Listener) Begin() *Notification {
	if l.current != nil || l.crashed || l.pending.len() == 0 {
		return nil
	}
	l.current = l.pending.at(0)
	return l.current
}

// Finish says that the handler returned from the call in flight.
func (l *Listener) Finish() {
	if l.current == nil {
		return
	}
	if l.current.IsInInitialList && l.current.Type == NotifyAdd {
		l.initialPending--
	}
	l.over()
}

// over takes what was in flight out of the ring, where it stayed.
func (l *Listener) over() {
	l.current = nil
	if l.pending.len() > 0 { // it was not dropped
		l.pending.pop()
	}
}

// Crash says that the handler panicked. The item is skipped; if it was of the initial list, it never counts as finished,
// so the listener never syncs. Before the next item the listener rests for a second: see Rest (I85).
func (l *Listener) Crash() {
	if l.current == nil {
		return
	}
	l.over()
	l.crashed = true
	l.restsUntil = time.Time{}
}

// Rest returns until when a crashed listener rests, and whether it does. The rest begins when the next item is there, at
// the first call that sees it, and ends at the first call at or after the time returned.
func (l *Listener) Rest(now time.Time) (until time.Time, resting bool) {
	if !l.crashed || l.pending.len() == 0 {
		return time.Time{}, false
	}
	if l.restsUntil.IsZero() {
		l.restsUntil = now.Add(crashPause)
	}
	if now.Before(l.restsUntil) {
		return l.restsUntil, true
	}
	l.crashed = false
	return time.Time{}, false
}

// Deliver makes the oldest notification's call as one step: Begin, the call, Finish. It returns false if Begin had
// nothing. A panic of the handler passes through; whoever recovers from it calls Crash.
func (l *Listener) Deliver() bool {
	n := l.Begin()
	if n == nil {
		return false
	}
	n.Call(l.handler)
	l.Finish()
	return true
}

// drop forgets everything that waits.
func (l *Listener) drop() {
	l.removed = true
	l.pending = ring{}
}
