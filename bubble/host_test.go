package bubble

import (
	"bytes"
	"context"
	cryptorand "crypto/rand"
	"errors"
	"flag"
	"math/rand"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/sim"
)

func mustRun(t *testing.T, seed uint64, run func()) {
	t.Helper()
	if err := Run(seed, Options{}, run); err != nil {
		t.Fatal(err)
	}
}

// A bubble begins at the kernel's Epoch, so objects stamped in a run are not in client-go's future.
func TestBubbleBeginsAtTheEpoch(t *testing.T) {
	var began time.Time
	mustRun(t, 1, func() { began = time.Now() })
	if !began.Equal(sim.Epoch) {
		t.Errorf("the bubble began at %v, the kernel's epoch is %v", began.UTC(), sim.Epoch)
	}
}

// The default error handlers remember the last error in real time, and would sleep for decades of virtual time.
func TestErrorsTakeNoTime(t *testing.T) {
	before := len(utilruntime.ErrorHandlers)
	var took time.Duration
	mustRun(t, 1, func() {
		start := time.Now()
		for range 3 {
			utilruntime.HandleErrorWithContext(context.Background(), errors.New("x"), "something failed")
		}
		took = time.Since(start)
	})
	if took != 0 {
		t.Errorf("three errors took %v of virtual time", took)
	}
	if n := len(utilruntime.ErrorHandlers); n != before || n == 0 {
		t.Errorf("after the run there are %d error handlers, before there were %d", n, before)
	}
}

func TestGlobalSourcesBelongToTheSeed(t *testing.T) {
	draw := func(seed uint64) (r []float64, c []byte) {
		c = make([]byte, 16)
		mustRun(t, seed, func() {
			r = []float64{rand.Float64(), wait.Jitter(time.Second, 1).Seconds()}
			if _, err := cryptorand.Read(c); err != nil {
				t.Error(err)
			}
		})
		return r, c
	}
	reader := cryptorand.Reader
	r7, c7 := draw(7)
	r8, c8 := draw(8)
	again, cAgain := draw(7)
	if !slices.Equal(r7, again) || !bytes.Equal(c7, cAgain) {
		t.Errorf("two runs of seed 7 draw %v %x and %v %x", r7, c7, again, cAgain)
	}
	if r7[0] == r8[0] || r7[1] == r8[1] || bytes.Equal(c7, c8) {
		t.Errorf("seeds 7 and 8 draw the same: %v %x and %v %x", r7, c7, r8, c8)
	}
	if cryptorand.Reader != reader {
		t.Error("crypto/rand.Reader was not restored")
	}
}

func TestKlogIsSilentDuringARun(t *testing.T) {
	var log bytes.Buffer
	state := klog.CaptureState()
	defer state.Restore()
	klog.LogToStderr(false)
	klog.SetOutput(&log)
	mustRun(t, 1, func() {
		klog.Info("from inside")
		klog.Background().Info("from inside")
		klog.Flush()
	})
	klog.Info("from outside")
	klog.Flush()
	if strings.Contains(log.String(), "from inside") || !strings.Contains(log.String(), "from outside") {
		t.Errorf("the log has %q", log.String())
	}
}

// Leaked goroutines are named, and the next run is unaffected.
func TestLeftGoroutinesAreNamed(t *testing.T) {
	err := Run(1, Options{}, func() {
		never := make(chan struct{})
		go leftBehind(never)
	})
	var leak *LeakError
	if !errors.As(err, &leak) {
		t.Fatalf("the error is %v", err)
	}
	if len(leak.Goroutines) != 1 || !strings.Contains(leak.Goroutines[0].At, "leftBehind") ||
		!strings.Contains(leak.Goroutines[0].Started, "TestLeftGoroutinesAreNamed") || leak.Goroutines[0].State != "chan receive" {
		t.Errorf("leaked: %v", leak.Goroutines)
	}
	ran := false
	mustRun(t, 2, func() { ran = true })
	if !ran {
		t.Error("the run after it did not happen")
	}
}

func leftBehind(c chan struct{}) { <-c }

// Of goroutines that many programs leave behind, the error says what ends them, once each.
func TestWhatEndsLeftGoroutines(t *testing.T) {
	queue := Goroutine{State: "select", At: "k8s.io/client-go/util/workqueue.(*delayingType[...]).waitingLoop (delaying_queue.go:287)"}
	source := Goroutine{State: "chan send", At: "sigs.k8s.io/controller-runtime/pkg/internal/source.(*Kind).Start.func1 (kind.go:89)"}
	generic := Goroutine{State: "chan send", At: "sigs.k8s.io/controller-runtime/pkg/internal/source.(*Kind[...]).Start.func1 (kind.go:83)"}
	priorities := Goroutine{State: "chan receive", At: "sigs.k8s.io/controller-runtime/pkg/controller/priorityqueue.(*priorityqueue[...]).GetWithPriority (priorityqueue.go:276)"}
	events := Goroutine{State: "sync.Cond.Wait", At: "k8s.io/client-go/tools/watch.(*eventProcessor).takeBatch (informerwatcher.go:66)"}
	filter := Goroutine{State: "chan send", At: "k8s.io/apimachinery/pkg/watch.(*filteredWatch).loop (filter.go:67)"}
	mine := Goroutine{State: "chan receive", At: "example.com/mine.(*source).Start (source.go:1)"}
	for _, test := range []struct {
		left  []Goroutine
		hints []string
	}{
		{[]Goroutine{mine}, nil},
		{[]Goroutine{queue, source, queue}, []string{"until its ShutDown", "controller-runtime's mistake, not yours"}},
		{[]Goroutine{generic, source}, []string{"controller-runtime's mistake, not yours"}},
		{[]Goroutine{queue, mine}, []string{"until its ShutDown"}},
		{[]Goroutine{mine, priorities}, []string{"in v0.20 and v0.21 its priority queue wakes no worker"}},
		{[]Goroutine{events}, []string{"UntilWithSync is client-go's mistake, not yours"}},
		{[]Goroutine{filter, mine}, []string{"The filter of a watch is a mistake of Kubernetes' libraries, not yours"}},
		{[]Goroutine{source, queue}, []string{"until its ShutDown", "controller-runtime's mistake, not yours"}},
	} {
		lines := strings.Split((&LeakError{Goroutines: test.left}).Error(), "\n")
		kinds := len(linesOf(test.left))
		if got := lines[1+kinds:]; len(got) != len(test.hints) {
			t.Errorf("%v: the hints are %q, want %q", test.left, got, test.hints)
			continue
		}
		for n, hint := range test.hints {
			if !strings.Contains(lines[1+kinds+n], hint) {
				t.Errorf("%v: hint %d is %q, want %q", test.left, n, lines[1+kinds+n], hint)
			}
		}
	}
}

// stuckChild is set in a child process for a run that never becomes quiescent, because its goroutines stay.
const stuckChild = "INFORMERSIM_TEST_STUCK"

// A goroutine that waits for something outside the bubble is found and named, and nothing hangs.
func TestStuckRunEndsWithAnError(t *testing.T) {
	if os.Getenv(stuckChild) != "" {
		stuckRun(t)
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^TestStuckRunEndsWithAnError$", "-test.v")
	cmd.Env = append(os.Environ(), stuckChild+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || !bytes.Contains(out, []byte("PASS")) {
		t.Errorf("%v\n%s", err, out)
	}
}

func stuckRun(t *testing.T) {
	err := Run(1, Options{QuiescenceTimeout: 200 * time.Millisecond}, func() {
		b, err := Enter(0)
		if err != nil {
			t.Error(err)
		}
		go neverStops()
		b.Quiesce()
	})
	var stuck *StuckError
	if !errors.As(err, &stuck) {
		t.Fatalf("the error is %v", err)
	}
	if len(stuck.Goroutines) != 1 || !strings.Contains(stuck.Goroutines[0].At, "neverStops") ||
		!strings.Contains(stuck.Goroutines[0].Started, "stuckRun") {
		t.Errorf("not quiescent: %v", stuck.Goroutines)
	}
	if !strings.Contains(err.Error(), "outside the bubble") || !strings.Contains(err.Error(), "neverStops") {
		t.Errorf("the error does not explain itself: %v", err)
	}
	if err := Run(2, Options{}, func() {}); err == nil || !strings.Contains(err.Error(), "never became quiescent") {
		t.Errorf("the run after it has the error %v", err)
	}
}

// Where many runs are expected to deadlock, one of them does not keep others from being made.
func TestManyRunsThatDeadlock(t *testing.T) {
	for seed := range uint64(3) {
		err := Run(seed, Options{Many: true}, func() {
			b, err := Enter(0)
			if err != nil {
				t.Error(err)
			}
			var mu sync.Mutex
			mu.Lock()
			go mu.Lock()
			b.Quiesce()
			t.Error("the run goes on, although a goroutine waits for a lock that nobody will release")
		})
		var stuck *StuckError
		if !errors.As(err, &stuck) || !stuck.Locked {
			t.Fatalf("seed %d: the error is %v", seed, err)
		}
		if err := Broken(); err != nil {
			t.Fatal(err)
		}
		passed := false
		mustRun(t, seed, func() {
			time.Sleep(time.Hour)
			passed = true
		})
		if !passed {
			t.Errorf("the run after seed %d was not made", seed)
		}
	}
}

// neverStops blocks like code that was given wait.NeverStop.
func neverStops() { <-wait.NeverStop }

// State that a program takes over is restored after the run, before the next one.
func TestTakeOverIsRestored(t *testing.T) {
	var order []string
	note := func(s string) { order = append(order, s) }
	o := Options{TakeOver: func() func() {
		note("taken over")
		return func() { note("restored") }
	}}
	if err := Run(1, o, func() { note("run") }); err != nil {
		t.Fatal(err)
	}
	mustRun(t, 2, func() { note("next") })
	if got := strings.Join(order, ", "); got != "taken over, run, restored, next" {
		t.Errorf("the order was: %s", got)
	}
}

// A process's first bubble has one processor, too: the testing package, which is asked for a test before it, sets the number once more.
func TestFirstBubbleHasOneProcessor(t *testing.T) {
	const child = "BUBBLE_TEST_CHILD"
	if os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestFirstBubbleHasOneProcessor$")
		cmd.Env = append(os.Environ(), child+"=1", "GOMAXPROCS=2")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	for n := range 2 {
		processors := 0
		if err := Run(uint64(n), Options{OneProcessor: true}, func() { processors = runtime.GOMAXPROCS(0) }); err != nil {
			t.Fatal(err)
		}
		if after := runtime.GOMAXPROCS(0); processors != 1 || after != 2 {
			t.Errorf("there are %d processors in bubble %d, and %d after it", processors, n+1, after)
		}
	}
}

// Interleaved goroutines run in an order of the seed's, all of them before the bubble is quiescent, and on one processor. Where the runtime is not
// seeded, nothing changes.
func TestInterleave(t *testing.T) {
	processors := runtime.GOMAXPROCS(2)
	defer runtime.GOMAXPROCS(processors)
	order := func(seed uint64, interleave bool) string {
		var mu sync.Mutex
		var said strings.Builder
		at := 0
		run := func() {
			b, err := Enter(0)
			if err != nil {
				t.Error(err)
				return
			}
			for i := range 4 {
				go func() {
					for range 5 {
						mu.Lock()
						said.WriteByte(byte('a' + i))
						mu.Unlock()
					}
				}()
			}
			b.Quiesce()
			at = said.Len()
			if n := runtime.GOMAXPROCS(0); interleave && n != 1 {
				t.Errorf("there are %d processors", n)
			}
		}
		if err := Run(seed, Options{Interleave: interleave}, run); err != nil {
			t.Fatal(err)
		}
		if at != 20 || runtime.GOMAXPROCS(0) != 2 {
			t.Errorf("the bubble is quiescent after %d of 20 steps; there are %d processors", at, runtime.GOMAXPROCS(0))
		}
		return said.String()
	}
	orders := map[string]bool{}
	for seed := range uint64(10) {
		first := order(seed, true)
		if again := order(seed, true); Seeded() && again != first {
			t.Errorf("seed %d: %s, and then %s", seed, first, again)
		}
		orders[first] = true
	}
	if Seeded() && len(orders) < 5 {
		t.Errorf("ten seeds have %d orders: %v", len(orders), orders)
	}
	turns := func(seed uint64) (n int) {
		s := order(seed, false)
		for i := range s[1:] {
			if s[i] != s[i+1] {
				n++
			}
		}
		return n
	}
	if n := turns(1); Seeded() && n != 3 {
		t.Errorf("four goroutines that are not interleaved change %d times", n)
	}
}

// A step that waits for a lock that nobody will release never comes to its end. It is given up, too.
func TestStepThatWaitsForALock(t *testing.T) {
	const child = "BUBBLE_TEST_LOCK"
	if os.Getenv(child) == "" { // a run that is stuck is the process's last
		cmd := exec.Command(os.Args[0], "-test.run", "^TestStepThatWaitsForALock$")
		cmd.Env = append(os.Environ(), child+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	err := Run(1, Options{}, func() {
		b, err := Enter(0)
		if err != nil {
			t.Error(err)
			return
		}
		var mu sync.Mutex
		go mu.Lock()
		b.Quiesce()
		mu.Lock()
		t.Error("the lock was taken twice")
	})
	var stuck *StuckError
	if !errors.As(err, &stuck) || !stuck.Locked || len(stuck.Goroutines) != 1 || !strings.Contains(stuck.Goroutines[0].At, "TestStepThatWaitsForALock") {
		t.Fatalf("%v", err)
	}
}

// With LocksRest, a goroutine may sleep, or wait for what the next step brings, while another waits for its lock. Where the runtime is not seeded, the
// second one keeps the bubble from becoming quiescent, and the message says so.
func TestLocksRest(t *testing.T) {
	for name, lock := range map[string]func() (lock, unlock func()){
		"Mutex":   func() (lock, unlock func()) { mu := &sync.Mutex{}; return mu.Lock, mu.Unlock },
		"RWMutex": func() (lock, unlock func()) { mu := &sync.RWMutex{}; return mu.Lock, mu.Unlock },
		"readers": func() (lock, unlock func()) {
			mu := &sync.RWMutex{}
			var writer atomic.Bool
			return func() {
					if writer.CompareAndSwap(false, true) {
						mu.Lock()
					} else {
						mu.RLock()
					}
				}, func() {
					if writer.CompareAndSwap(true, false) {
						mu.Unlock()
					} else {
						mu.RUnlock()
					}
				}
		},
	} {
		if !Seeded() && name != "Mutex" {
			continue // a run that is stuck is the process's last
		}
		t.Run(name, func(t *testing.T) { locksRest(t, lock) })
	}
}

func locksRest(t *testing.T, lock func() (lock, unlock func())) {
	const child = "BUBBLE_TEST_CHILD"
	if !Seeded() && os.Getenv(child) == "" {
		cmd := exec.Command(os.Args[0], "-test.run", "^TestLocksRest$")
		cmd.Env = append(os.Environ(), child+"=1")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Errorf("%v:\n%s", err, out)
		}
		return
	}
	err := Run(1, Options{LocksRest: true}, func() {
		b, err := Enter(0)
		if err != nil {
			t.Error(err)
			return
		}
		lock, unlock := lock()
		answer, done := make(chan bool), 0
		for i := range 2 {
			go func() {
				lock()
				defer unlock()
				if i == 0 {
					time.Sleep(time.Second)
				} else {
					<-answer
				}
				done++
			}()
		}
		b.Quiesce()
		if done != 0 {
			t.Errorf("%d goroutines are done while the first sleeps or waits", done)
		}
		time.Sleep(time.Minute)
		b.Quiesce()
		answer <- true
		b.Quiesce()
		time.Sleep(time.Minute)
		b.Quiesce()
		if done != 2 {
			t.Errorf("%d goroutines are done at the end", done)
		}
	})
	if Seeded() {
		if err != nil {
			t.Error(err)
		}
		return
	}
	var stuck *StuckError
	if !errors.As(err, &stuck) || !stuck.Locked || len(stuck.Goroutines) != 1 || len(stuck.Holders) != 1 || stuck.Holders[0].Runs() {
		t.Fatalf("%v", err)
	}
	for _, want := range []string{
		"these goroutines wait for locks, and none runs that could release one:\n  sync.Mutex.Lock in ", "whoever has the lock waits for a later step: for an answer, or for time to pass. It may be one of these:\n  ",
	} {
		if !strings.Contains(err.Error(), want) {
			t.Errorf("the message lacks %q:\n%v", want, err)
		}
	}
	if strings.Contains(err.Error(), "> internal/sync.runtime_SemacquireMutex") {
		t.Errorf("the runtime's function is marked as the program's own:\n%v", err)
	}
}

// Goroutines that are held begin when they are released, the bubble is quiescent without them, and those that its own goroutine starts are not
// held. Where the runtime is not seeded, nothing is held.
func TestHold(t *testing.T) {
	const all = 20
	hold := func(seed uint64, interleave bool) (held int) {
		var begun atomic.Int32
		run := func() {
			b, err := Enter(0)
			if err != nil {
				t.Error(err)
				return
			}
			start := func() {
				for range all {
					go begun.Add(1)
				}
			}
			b.Hold()
			go start()
			b.Quiesce()
			held = all - int(begun.Load())
			go start() // Quiesce has ended it
			b.Quiesce()
			if n := begun.Load(); n != int32(2*all-held) {
				t.Errorf("seed %d: %d of %d goroutines were held, and of as many later ones there began %d", seed, held, all, int(n)-all+held)
			}
			b.Release()
			b.Quiesce()
			if n := begun.Load(); n != 2*all {
				t.Errorf("seed %d: after the release %d of %d goroutines have begun", seed, n, 2*all)
			}
		}
		if err := Run(seed, Options{Interleave: interleave}, run); err != nil {
			t.Fatal(err)
		}
		return held
	}
	counts := map[int]bool{}
	for seed := range uint64(10) {
		n := hold(seed, true)
		if again := hold(seed, true); again != n {
			t.Errorf("seed %d holds %d goroutines, and then %d", seed, n, again)
		}
		if Seeded() != (n > 0 && n < all) || hold(seed, false) != 0 {
			t.Errorf("seed %d holds %d goroutines; the runtime is seeded: %t", seed, n, Seeded())
		}
		counts[n] = true
	}
	if Seeded() && len(counts) < 3 {
		t.Errorf("ten seeds hold as many goroutines: %v", counts)
	}
}

// A bubble has one kernel, and there is no bubble outside a run.
func TestEnter(t *testing.T) {
	if _, err := Enter(0); err == nil || !strings.Contains(err.Error(), "bubble.Run") {
		t.Errorf("outside a bubble the error is %v; it should say what to do", err)
	}
	ended := false
	mustRun(t, 1, func() {
		b, err := Enter(0)
		if err != nil {
			t.Error(err)
			return
		}
		b.AtEnd(func() { ended = true })
		if _, err := Enter(0); err == nil {
			t.Error("a bubble was entered twice")
		}
	})
	if !ended {
		t.Error("AtEnd's function was not called")
	}
}

// verboseChild is set in a child process that makes runs while the testing package is told to be verbose.
const verboseChild = "INFORMERSIM_TEST_VERBOSE"

// With -v, the output is the caller's test's: go test -json, and whatever reads that, would take what follows the name of another test for that one's.
func TestVerboseOutputNamesNoOtherTest(t *testing.T) {
	if os.Getenv(verboseChild) != "" {
		for seed := range uint64(2) {
			mustRun(t, seed, func() { t.Log("in a bubble") })
		}
		if v := flag.Lookup("test.v").Value.String(); v != "test2json" {
			t.Errorf("-test.v is %q after a run", v)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.v=test2json")
	cmd.Env = append(os.Environ(), verboseChild+"=1")
	out, err := cmd.CombinedOutput()
	if err != nil || bytes.Count(out, []byte("in a bubble")) != 2 || bytes.Count(out, []byte("=== RUN ")) != 1 {
		t.Errorf("%v\n%s", err, out)
	}
}

// skippingChild is set in a child process that makes a run while the testing package is told to skip some tests.
const skippingChild = "INFORMERSIM_TEST_SKIPPING"

// With -skip, tests that are not skipped make their runs.
func TestSkippedTestsAreOthers(t *testing.T) {
	const others = "^TestOther$"
	if os.Getenv(skippingChild) != "" {
		ran := false
		mustRun(t, 1, func() { ran = true })
		if skip := flag.Lookup("test.skip").Value.String(); !ran || skip != others {
			t.Errorf("it ran: %v; then -test.skip is %q", ran, skip)
		}
		return
	}
	cmd := exec.Command(os.Args[0], "-test.run=^"+t.Name()+"$", "-test.skip="+others)
	cmd.Env = append(os.Environ(), skippingChild+"=1")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
