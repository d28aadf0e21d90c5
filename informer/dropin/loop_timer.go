package dropin

import (
	"time"

	"k8s.io/utils/clock"
)

// loopTimer is a timer that is made again only when its time changes.
type loopTimer struct {
	clock clock.Clock
	timer clock.Timer
	at    time.Time
}

// set makes the timer fire at a time, or never if there is none. It reports true, and sets nothing, if that time has come.
func (t *loopTimer) set(at time.Time, any bool) (due bool) {
	if any && t.timer != nil && t.at.Equal(at) {
		return false
	}
	t.stop()
	if !any {
		return false
	}
	wait := at.Sub(t.clock.Now())
	if wait <= 0 {
		return true
	}
	t.timer, t.at = t.clock.NewTimer(wait), at
	return false
}

// c is where the timer fires: nowhere if it is not set. Whoever has read it calls stop.
func (t *loopTimer) c() <-chan time.Time {
	if t.timer == nil {
		return nil
	}
	return t.timer.C()
}

func (t *loopTimer) stop() {
	if t.timer != nil {
		t.timer.Stop()
		t.timer = nil
	}
}
