package bubble

import (
	"slices"
	"strings"
	"time"
)

// lockCheck is how often a step that has lasted for that long is looked at for a deadlock of locks, and lockCheckOfMany of which of many that deadlock.
const (
	lockCheck       = time.Second
	lockCheckOfMany = 50 * time.Millisecond
)

// lockChecks is how many looks in a row must see the same goroutines wait for locks, and none that could release one. A lock of the whole process may
// be another run's for a moment; nobody keeps one for seconds.
const lockChecks = 3

// deadlock recognizes goroutines of a bubble that wait for one another's locks. Such a wait is no durable one to the runtime, as whoever has a lock might be
// outside the bubble, so the bubble never becomes quiescent; what tells the wait from work is that nothing else in the bubble is able to run.
type deadlock struct {
	every  time.Duration
	looked time.Time
	seen   []string
	times  int
}

// look takes another look if it is time to, and reports whether the goroutines are deadlocked.
func (d *deadlock) look(now time.Time, restless func() []Goroutine) bool {
	if now.Sub(d.looked) < d.every {
		return false
	}
	d.looked = now
	seen := waitForLocks(restless())
	switch {
	case seen == nil:
		d.times = 0
	case slices.Equal(seen, d.seen):
		d.times++
	default:
		d.times = 1
	}
	d.seen = seen
	return d.times >= lockChecks
}

// waitForLocks describes goroutines all of which wait for locks; nil if one does not.
func waitForLocks(gs []Goroutine) (described []string) {
	for _, g := range gs {
		if !g.waitsForLock() {
			return nil
		}
		described = append(described, g.String())
	}
	slices.Sort(described)
	return described
}

func (g Goroutine) waitsForLock() bool {
	return strings.HasPrefix(g.State, "sync.Mutex.") || strings.HasPrefix(g.State, "sync.RWMutex.")
}
