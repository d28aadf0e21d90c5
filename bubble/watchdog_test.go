package bubble

import (
	"testing"
	"time"
)

// A step lasts for as long as the process works on it. A ticker that is late, as on a busy machine, is no standstill.
func TestStandstillIsNotCounted(t *testing.T) {
	now := time.Unix(0, 0)
	w := working{interval: 250 * time.Millisecond, looked: now}
	for _, step := range []struct{ passes, lasted time.Duration }{
		{250 * time.Millisecond, 250 * time.Millisecond},
		{750 * time.Millisecond, time.Second},
		{time.Hour, 2 * time.Second}, // at a breakpoint
		{0, 2 * time.Second},
		{250 * time.Millisecond, 2250 * time.Millisecond},
	} {
		now = now.Add(step.passes)
		if lasted := w.look(now); lasted != step.lasted {
			t.Errorf("after %v more it has lasted for %v, not %v", step.passes, lasted, step.lasted)
		}
	}
}
