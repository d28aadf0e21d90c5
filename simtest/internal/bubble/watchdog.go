package bubble

import (
	"slices"
	"time"
)

// DefaultQuiescenceTimeout is the real time that a step may take to become quiescent. Steps take microseconds; one that takes
// this long never ends.
const DefaultQuiescenceTimeout = 30 * time.Second

// await waits for the end of the run and checks, from outside the bubble and in real time, that every step becomes quiescent
// within the timeout. A deadlock of locks shows sooner, also that of a step which does not come to its end because of one.
func (j *job) await(timeout time.Duration) error {
	every := lockCheck
	if j.options.Many {
		every = lockCheckOfMany
	}
	interval := min(max(timeout/4, time.Millisecond), every/4)
	tick := time.NewTicker(interval)
	defer tick.Stop()
	last, was, worked, locks := j.waits.Load(), j.phase.Load(), working{interval: interval, looked: time.Now()}, deadlock{every: every}
	for {
		select {
		case err := <-j.done:
			return err
		case <-tick.C:
		}
		lasted := worked.look(time.Now())
		if n, phase := j.waits.Load(), j.phase.Load(); n != last || phase != was {
			last, was, worked.lasted, locks = n, phase, 0, deadlock{every: every}
			continue
		}
		if was == running {
			if last > 0 && lasted >= every && locks.look(time.Now(), j.withOwn) && j.phase.CompareAndSwap(running, givenUp) {
				return j.locked(j.withOwn())
			}
			continue
		}
		if lasted >= every && locks.look(time.Now(), j.restless) && j.phase.CompareAndSwap(waiting, givenUp) {
			return j.locked(j.restless())
		}
		if lasted >= timeout && j.phase.CompareAndSwap(waiting, givenUp) {
			return &StuckError{Timeout: timeout, Goroutines: j.restless(), Requests: asks(bubbled(dump(), j.name, false))}
		}
	}
}

// locked reports goroutines that wait for each other's locks.
func (j *job) locked(stuck []Goroutine) error {
	return &StuckError{Goroutines: stuck, Locked: true, Holders: mayHold(bubbled(dump(), j.name, false), stuck)}
}

// withOwn returns the goroutines that do not rest, and the run's own if that waits for a lock; none if it is able to go on.
func (j *job) withOwn() []Goroutine {
	stacks := dump()
	own, ok := runsOwn(stacks, j.name)
	if !ok || !own.waitsForLock() {
		return nil
	}
	others := slices.DeleteFunc(bubbled(stacks, j.name, true), func(g Goroutine) bool { return g.Started == own.Started })
	return append(others, own)
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

// working measures how long a step has lasted, without the time for which the whole process stood still: at a breakpoint of a debugger, for example, or because
// the machine slept. Nothing of the step could go on then.
type working struct {
	interval time.Duration // between two looks
	looked   time.Time
	lasted   time.Duration
}

// look takes a look, and returns how long the step has lasted.
func (w *working) look(now time.Time) time.Duration {
	w.lasted += min(now.Sub(w.looked), 4*w.interval)
	w.looked = now
	return w.lasted
}
