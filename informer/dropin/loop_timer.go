package dropin

import (
	"time"

	"k8s.io/utils/clock"
)

// loopTimer is a timer that is recreated only when its deadline changes.
type loopTimer struct {
	clock clock.Clock
	timer clock.Timer
	at    time.Time
}

// set arms the timer for at, or disarms it if any is false. If at has already passed it returns true and arms nothing.
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

// c returns the timer's channel, nil if it is not armed. A receiver must call stop.
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
