package bubble

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"
)

// Engine is what traces call the engine of runs in a bubble.
const Engine = "bubble"

// job is one run: what a bubble is made for.
type job struct {
	seed    uint64
	run     func()
	done    chan error
	options Options
	entered *Bubble // by Enter, inside the bubble
	restore func()  // puts the process-wide state back, once

	// What the watchdog sees: how often the run has begun to wait for quiescence, and whether it waits now.
	waits   atomic.Uint64
	waiting atomic.Bool
}

func (j *job) beginWait() { j.waits.Add(1); j.waiting.Store(true) }
func (j *job) endWait()   { j.waiting.Store(false) }

// host is the goroutine that makes the bubbles, one after the other, and lives as long as the process: a bubble needs a
// *testing.T, and outside of a test the testing package gives one only to a test that it runs.
type host struct {
	once  sync.Once
	jobs  chan *job
	ended chan struct{} // closed when the testing package took no test

	mu      sync.Mutex // serialises runs
	current atomic.Pointer[job]
	broken  error // a run got stuck: its goroutines are still there
	frozen  bool  // the goroutine is in a bubble that was abandoned: another one is needed
}

var theHost = host{jobs: make(chan *job), ended: make(chan struct{})}

// Options configure a run. The zero value works.
type Options struct {
	// QuiescenceTimeout is how much real time a step may take to become quiescent; DefaultQuiescenceTimeout if 0.
	QuiescenceTimeout time.Duration
	// TakeOver sets up more process-wide state than that of every run, and returns what puts it back; nil for none. It is called
	// outside of the bubble.
	TakeOver func() (restore func())
}

// Run calls run inside a bubble, with the process-wide state set up for the seed, and returns when run has returned and every
// goroutine in the bubble has ended. One run at a time: others wait. It returns a *StuckError if a step did not become quiescent,
// a *LeakError if goroutines were left behind, and ErrRace; run reports its own errors.
//
// Run may not be called inside a bubble.
func Run(seed uint64, o Options, run func()) error {
	if o.QuiescenceTimeout <= 0 {
		o.QuiescenceTimeout = DefaultQuiescenceTimeout
	}
	h := &theHost
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.broken != nil {
		return fmt.Errorf("an earlier run of this process never became quiescent: %w", h.broken)
	}
	if h.frozen {
		h.once, h.jobs, h.frozen = sync.Once{}, make(chan *job), false
	}
	h.once.Do(h.start)
	j := &job{seed: seed, options: o, run: run, done: make(chan error, 1)}
	select {
	case h.jobs <- j:
	case <-h.ended:
		return errors.New("bubble: the testing package runs no test: in a TestMain, use it from a test, not around m.Run")
	}
	err := j.await(o.QuiescenceTimeout)
	var stuck *StuckError
	if errors.As(err, &stuck) {
		h.broken = err
	}
	return err
}

// start has the testing package run the one test that makes the bubbles. It never ends: the process does.
func (h *host) start() {
	// Reseeding the global source of math/rand has an effect only with this setting, which the runtime re-reads at once.
	setting := "randseednop=0"
	if old := os.Getenv("GODEBUG"); old != "" {
		setting = old + "," + setting
	}
	os.Setenv("GODEBUG", setting)

	all := func(string, string) (bool, error) { return true, nil }
	tests := []testing.InternalTest{{Name: "bubble", F: h.serve}}
	if testing.Testing() && flag.Parsed() { // the tests have been started
		go func() {
			testing.RunTests(all, tests)
			close(h.ended)
		}()
		return
	}
	testing.Init()
	if !flag.Parsed() {
		// The process's arguments are not ours, and testing.Main would parse them.
		if err := flag.CommandLine.Parse(nil); err != nil {
			panic(err) // nothing to parse, nothing to fail
		}
	}
	go testing.Main(all, tests, nil, nil)
}

// takeOver sets up the process-wide state: that of every run, then the run's own.
func (j *job) takeOver() (restore func()) {
	restoreCommon := takeOver(j.seed)
	if j.options.TakeOver == nil {
		return restoreCommon
	}
	restoreOwn := j.options.TakeOver()
	return func() {
		restoreOwn()
		restoreCommon()
	}
}

// serve makes a bubble for each run.
func (h *host) serve(t *testing.T) {
	for j := range h.jobs {
		j.done <- h.bubble(t, j)
	}
}

// bubble makes one run.
func (h *host) bubble(t *testing.T, j *job) (err error) {
	j.restore = sync.OnceFunc(j.takeOver())
	defer j.restore()
	h.current.Store(j)
	defer h.current.Store(nil)
	defer seedBubble(j.seed)()
	err = ErrRace // unless the bubble's goroutine gets to its end: a failed test ends it
	over := make(chan struct{})
	go func() {
		defer close(over)
		defer func() {
			// synctest panics on this goroutine if any other in the bubble is blocked for good.
			p := recover()
			if p == nil {
				return
			}
			e, isError := p.(error)
			if !isError || !strings.HasPrefix(e.Error(), "deadlock:") {
				panic(p)
			}
			err = &LeakError{Goroutines: bubbled(dump(), false)}
		}()
		synctest.Test(t, func(t *testing.T) {
			if testing.Testing() {
				// What draws from the system's source past crypto/rand.Reader, or has kept the Reader that it found, as uuids have.
				cryptotest.SetGlobalRandom(t, j.seed)
			}
			j.run()
			if b := j.entered; b != nil && b.atEnd != nil {
				b.atEnd()
			}
		})
		err = nil
	}()
	<-over
	return err
}

// ErrRace is the error of a run in which the race detector has found something. To the testing package a bubble is a test, and
// nothing else fails it.
var ErrRace = errors.New("the race detector has found a data race during this run, and has reported it above: " +
	"what a process shares with the test's body, or with another process, needs a lock or sync/atomic, as in any program")
