package bubble

import "time"

// DefaultQuiescenceTimeout is the real time that a step may take to become quiescent. Steps take microseconds; one that takes
// this long never ends.
const DefaultQuiescenceTimeout = 30 * time.Second

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
		if n := j.waits.Load(); n != last || j.phase.Load() != waiting {
			last, since = n, time.Now()
			continue
		}
		if time.Since(since) >= timeout && j.phase.CompareAndSwap(waiting, givenUp) {
			return &StuckError{Timeout: timeout, Goroutines: bubbled(dump(), j.name, true)}
		}
	}
}
