package bubble

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"
)

// Engine is the name in traces of the engine of runs in a bubble.
const Engine = "bubble"

// job is one run in a bubble.
type job struct {
	seed    uint64
	run     func()
	done    chan error
	options Options
	entered *Bubble // by Enter, inside the bubble
	name    string  // of the bubble, in a dump of stacks
	restore func()  // restores the process-wide state; idempotent

	// For the watchdog: how often the run has begun to wait for quiescence, and whether it is waiting now.
	waits atomic.Uint64
	phase atomic.Uint32
}

// The phases of a run.
const (
	running uint32 = iota
	waiting
	givenUp // it will never run again
)

func (j *job) beginWait() {
	j.waits.Add(1)
	if !j.phase.CompareAndSwap(running, waiting) {
		<-never
	}
}

// endWait goes on with the run, unless the watchdog has given it up: whoever called Run may then read what the run has written.
func (j *job) endWait() {
	if !j.phase.CompareAndSwap(waiting, running) {
		<-never
	}
}

// host is the goroutine that makes the bubbles, one after the other, and lives as long as the process: a bubble needs a
// *testing.T, which the testing package gives only to a test that it runs.
type host struct {
	once  sync.Once
	jobs  chan *job
	ended chan struct{} // closed when the testing package refuses to run a test

	mu      sync.Mutex // serialises runs
	current atomic.Pointer[job]
	broken  error // set when a run got stuck: its goroutines are still there
	frozen  bool  // the goroutine is stuck in an abandoned bubble, so another one is needed
}

var theHost = host{jobs: make(chan *job), ended: make(chan struct{})}

// Options configure a run. The zero value works.
type Options struct {
	// QuiescenceTimeout limits the real time that a step may take to become quiescent; DefaultQuiescenceTimeout if 0.
	QuiescenceTimeout time.Duration
	// OneProcessor gives the process one processor during the run, so that goroutines in the bubble run in the order in which they were woken,
	// and not at the same time. The runs of a program that is not Seeded then differ less.
	OneProcessor bool
	// Interleave has the seed decide which of the bubble's goroutines runs, and where one gives way to others. It needs a program that is Seeded,
	// and is only OneProcessor in others.
	Interleave bool
	// LocksRest has goroutines be at rest while they wait for a sync.Mutex or sync.RWMutex that another one has, if the program is Seeded. What has such a lock and waits for time
	// to pass, or for an answer, then gets them. A deadlock of locks is no *StuckError then: those goroutines are left over at the end. In other programs
	// synctest waits for them.
	LocksRest bool
	// Many is for one run of many, most of which are expected to deadlock as another one has. A deadlock of locks shows within a fraction of a second, and other runs
	// may follow. What its goroutines have locked they keep: of a lock of the whole process's another run then finds nothing but that, so what such a run shows
	// has to be shown once more by another process.
	Many bool
	// TakeOver sets up further process-wide state, and returns a function that restores it; it may be nil. It is called outside the
	// bubble.
	TakeOver func() (restore func())
}

// Run calls run inside a bubble, with the process-wide state set up for the seed, and returns when run has returned and every
// goroutine in the bubble has ended. Concurrent calls take turns. Run returns a *StuckError if a step did not become quiescent, a
// *LeakError if goroutines were left behind, and ErrRace if the race detector found something; run reports its own errors.
//
// Run may not be called inside a bubble.
func Run(seed uint64, o Options, run func()) error {
	if o.QuiescenceTimeout <= 0 {
		o.QuiescenceTimeout = DefaultQuiescenceTimeout
	}
	h := &theHost
	h.mu.Lock()
	defer h.mu.Unlock()
	if err := h.whyBroken(); err != nil {
		return err
	}
	if h.frozen {
		h.once, h.jobs, h.frozen = sync.Once{}, make(chan *job), false
	}
	h.once.Do(h.start)
	j := &job{seed: seed, options: o, run: run, done: make(chan error, 1)}
	select {
	case h.jobs <- j:
	case <-h.ended:
		return errors.New("bubble: the testing package is not running tests: in a TestMain, call it from a test, not around m.Run")
	}
	err := j.await(o.QuiescenceTimeout)
	var stuck *StuckError
	switch {
	case !errors.As(err, &stuck):
	case o.Many && stuck.Locked: // nothing in that bubble will ever run again
		h.freeze(j)
	default:
		h.broken = err
	}
	return err
}

// freeze leaves a bubble behind in which nothing will run again, for others to follow. The next run reads frozen, and begins after this one's end was received.
func (h *host) freeze(j *job) {
	j.restore()
	h.current.Store(nil)
	h.frozen = true
}

// Broken returns why this process can make no other run, nil if it can: an earlier one has not become quiescent.
func Broken() error {
	theHost.mu.Lock()
	defer theHost.mu.Unlock()
	return theHost.whyBroken()
}

// whyBroken is Broken; the caller holds the lock.
func (h *host) whyBroken() error {
	if h.broken == nil {
		return nil
	}
	first, _, _ := strings.Cut(h.broken.Error(), "\n")
	return fmt.Errorf("an earlier run of this process never became quiescent, and its goroutines are still there, so no other run can be made: %s", first)
}

// start has the testing package run the one test that makes the bubbles. That test lasts as long as the process.
func (h *host) start() {
	resolveOutside()
	notifyOutside()
	// Reseeding the global source of math/rand has an effect only with this setting, which the runtime re-reads at once.
	setting := "randseednop=0"
	if old := os.Getenv("GODEBUG"); old != "" {
		setting = old + "," + setting
	}
	os.Setenv("GODEBUG", setting)

	all := func(string, string) (bool, error) { return true, nil }
	begun, asGiven := make(chan struct{}), apart()
	tests := []testing.InternalTest{{Name: "bubble", F: func(t *testing.T) { close(begun); h.serve(t) }}}
	if testing.Testing() && flag.Parsed() { // tests are running
		go func() {
			testing.RunTests(all, tests)
			close(h.ended)
		}()
		select {
		case <-begun:
		case <-h.ended:
		}
		asGiven()
		return
	}
	testing.Init()
	if !flag.Parsed() {
		// The process's arguments are not ours, and testing.Main would parse them.
		if err := flag.CommandLine.Parse(nil); err != nil {
			panic(err) // cannot happen: there is nothing to parse
		}
	}
	go testing.Main(all, tests, nil, nil)
}

// apart has the testing package run what it is told to as if some of its flags had not been given, until asGiven is called. With -test.v it would say which
// test runs, "bubble", and whoever reads its output, as go test -json does, would take all that the caller's test prints from then on for that test's. With
// -test.skip it would run nothing: what says that every test is one of those of -test.run says the same of those to be skipped.
func apart() (asGiven func()) {
	restore := func() {}
	for _, f := range []struct{ name, value string }{{"test.v", "false"}, {"test.skip", ""}} {
		given := flag.Lookup(f.name)
		if given == nil || given.Value.String() == f.value {
			continue
		}
		was, before := given.Value.String(), restore
		set := func(value string) {
			if err := given.Value.Set(value); err != nil {
				panic(err) // cannot happen: the testing package takes what it prints
			}
		}
		set(f.value)
		restore = func() { set(was); before() }
	}
	return restore
}

// takeOver sets up the process-wide state: the common part, then the run's own. The host's goroutine calls it: before the testing package starts that
// one, it sets the number of processors itself, to that of the process's start.
func (j *job) takeOver() (restore func()) {
	restoreCommon, restoreOwn, processors := takeOver(j.seed), func() {}, 0
	if j.options.TakeOver != nil {
		restoreOwn = j.options.TakeOver()
	}
	if j.options.OneProcessor || j.options.Interleave {
		processors = runtime.GOMAXPROCS(1)
	}
	return func() {
		runtime.GOMAXPROCS(processors) // 0 changes nothing
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
	defer seedBubble(j.seed, j.options)()
	err = ErrRace // unless the bubble's goroutine reaches its end: a failed test ends it early
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
			err = &LeakError{Goroutines: bubbled(dump(), j.name, false)}
		}()
		synctest.Test(t, func(t *testing.T) {
			if testing.Testing() {
				// For code that bypasses crypto/rand.Reader, or has kept an earlier Reader, as uuid packages do.
				seedCryptoRand(t, j.seed)
			}
			j.name = ownBubble()
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

// ErrRace is the error of a run in which the race detector found a data race. A bubble is a test to the testing package, and
// nothing else fails it.
var ErrRace = errors.New("the race detector found a data race during this run and reported it above: " +
	"state that a process shares with the test's body, or with another process, needs a lock or sync/atomic, as in any program")
