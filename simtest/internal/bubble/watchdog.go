package bubble

import "time"

// DefaultQuiescenceTimeout is the real time that a step may take to become quiescent. Steps take microseconds; one that takes
// this long never ends.
const DefaultQuiescenceTimeout = 30 * time.Second

// await waits for the end of the run and checks, from outside the bubble and in real time, that every step becomes quiescent
// within the timeout. A deadlock of locks shows sooner.
func (j *job) await(timeout time.Duration) error {
	tick := time.NewTicker(min(max(timeout/4, time.Millisecond), lockCheck/4))
	defer tick.Stop()
	last, since := j.waits.Load(), time.Now()
	var locks deadlock
	for {
		select {
		case err := <-j.done:
			return err
		case <-tick.C:
		}
		if n := j.waits.Load(); n != last || j.phase.Load() != waiting {
			last, since, locks = n, time.Now(), deadlock{}
			continue
		}
		lasted := time.Since(since)
		if lasted >= lockCheck && locks.look(time.Now(), j.restless) && j.phase.CompareAndSwap(waiting, givenUp) {
			stuck := j.restless()
			return &StuckError{Timeout: lasted.Truncate(lockCheck), Goroutines: stuck, Locked: true, Holders: mayHold(bubbled(dump(), j.name, false), stuck)}
		}
		if lasted >= timeout && j.phase.CompareAndSwap(waiting, givenUp) {
			return &StuckError{Timeout: timeout, Goroutines: j.restless(), Requests: asks(bubbled(dump(), j.name, false))}
		}
	}
}

// restless returns the goroutines that keep the bubble from becoming quiescent. While one helps to collect garbage, the runtime takes it out of its
// bubble, and a dump does not have it: then another dump is taken.
func (j *job) restless() (found []Goroutine) {
	for try := 0; try < 50 && len(found) == 0; try++ {
		if try > 0 {
			time.Sleep(time.Millisecond)
		}
		found = bubbled(dump(), j.name, true)
	}
	return found
}
