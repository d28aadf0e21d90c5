package bubble

import (
	"fmt"
	"time"
)

// DefaultQuiescenceTimeout is the real time that a step may take to become quiescent. Steps take microseconds; one that takes
// this long never ends.
const DefaultQuiescenceTimeout = 30 * time.Second

// StuckError reports that a step did not become quiescent: a goroutine in the bubble runs for ever, or waits for something
// outside the bubble.
type StuckError struct {
	Timeout    time.Duration // in real time
	Goroutines []Goroutine   // those that are not durably blocked
}

func (e *StuckError) Error() string {
	return fmt.Sprintf("the bubble did not become quiescent within %v of real time. %s\n%s", e.Timeout,
		"These goroutines are running, or wait for something that was made outside the bubble (a channel in a package variable, "+
			"a mutex, real I/O):", listing(e.Goroutines))
}

// await waits for the end of the run and checks, from outside the bubble and in real time, that every step becomes quiescent
// within the timeout.
func (j *job) await(timeout time.Duration) error {
	tick := time.NewTicker(max(timeout/4, time.Millisecond))
	defer tick.Stop()
	last, since := j.waits.Load(), time.Now()
	for {
		select {
		case err := <-j.done:
			return err
		case <-tick.C:
		}
		if n := j.waits.Load(); n != last || !j.waiting.Load() {
			last, since = n, time.Now()
			continue
		}
		if time.Since(since) >= timeout {
			return &StuckError{Timeout: timeout, Goroutines: bubbled(dump(), true)}
		}
	}
}
