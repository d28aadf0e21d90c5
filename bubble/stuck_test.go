package bubble

import (
	"fmt"
	"strings"
	"testing"
	"time"
)

func TestFramesOfTheUser(t *testing.T) {
	for _, test := range []struct {
		function, position string
		want               string
		user               bool
	}{
		{"main.run(0x1, 0x2)", "\t/src0/src/x/main.go:7 +0x1d", "main.run", true},
		{"example.com/x/ctl.(*C).sync(...)", "\t/src0/x/ctl/c.go:12", "example.com/x/ctl.(*C).sync", true},
		{"example.com/x/ctl.(*C).sync(...)", "\texample.com/x/ctl/c.go:12", "example.com/x/ctl.(*C).sync", true}, // -trimpath
		{"time.Sleep(0x1)", "\t/usr/lib/go/src/time/sleep.go:3 +0x1", "time.Sleep", false},
		{"time.Sleep(0x1)", "\t/usr/lib/go/src/runtime/time.go:363 +0x1", "time.Sleep", false},
		{"internal/poll.runtime_pollWait(0x1, 0x72)", "\truntime/netpoll.go:351 +0x1", "internal/poll.runtime_pollWait", false}, // -trimpath
		{"example.com/x/runtime.Wait(0x1)", "\t/src0/x/runtime/wait.go:3 +0x1", "example.com/x/runtime.Wait", true},
		{"net/http.Get(0x1)", "\tnet/http/client.go:3 +0x1", "net/http.Get", false}, // -trimpath
		{"k8s.io/client-go/tools/cache.(*X).Run(0x1)", "\t/go/pkg/mod/k8s.io/client-go@v0.1.0/tools/cache/x.go:3 +0x1", "k8s.io/client-go/tools/cache.(*X).Run", false},
		{"k8s.io/client-go/tools/cache.(*X).Run(0x1)", "\t/src0/x/vendor/k8s.io/client-go/tools/cache/x.go:3 +0x1", "k8s.io/client-go/tools/cache.(*X).Run", false},
		{"github.com/informersim/informersim/simtest.(*world).play(0x1)", "\t/src0/informersim/simtest/body.go:3 +0x1", "github.com/informersim/informersim/simtest.(*world).play", false},
		{"created by example.com/x.Start in goroutine 7", "\t/src0/x/start.go:3 +0x1", "example.com/x.Start", true},
	} {
		f := frameOf(test.function, test.position)
		if f.Function != test.want || f.User != test.user || strings.ContainsAny(f.Position, "\t+") {
			t.Errorf("%s at %s is %+v", test.function, test.position, f)
		}
	}
}

// The goroutine that runs is named first, with its whole stack; what waits for it, or for the outside, comes after.
func TestStuckErrorSaysHotLoop(t *testing.T) {
	dump := `goroutine 1 [running, synctest bubble 2]:
example.com/x.(*C).retry(0xc000)
	/src0/x/c.go:10 +0x1
k8s.io/client-go/tools/cache.(*P).run(0xc000)
	/go/pkg/mod/k8s.io/client-go@v0.1.0/tools/cache/p.go:20 +0x1
created by example.com/x.Start in goroutine 9
	/src0/x/c.go:5 +0x1

goroutine 2 [sync.Mutex.Lock, synctest bubble 2]:
sync.(*Mutex).Lock(...)
	/usr/lib/go/src/sync/mutex.go:46
example.com/x.(*C).get(0xc000)
	/src0/x/c.go:30 +0x1
created by example.com/x.Start in goroutine 9
	/src0/x/c.go:6 +0x1

goroutine 3 [chan receive (durable), synctest bubble 2]:
example.com/x.idle()
	/src0/x/c.go:40 +0x1
`
	err := &StuckError{Timeout: time.Second, Goroutines: bubbled([]byte(dump), "synctest bubble 2", true)}
	const want = `a hot loop: the bubble did not become quiescent within 1s of real time, because a goroutine runs without ever waiting. ` +
		`Virtual time passes only while every goroutine waits, so nothing else can happen.

The whole stack, with > at what is neither the standard library's nor a dependency's:
  running
  > example.com/x.(*C).retry
        /src0/x/c.go:10
    k8s.io/client-go/tools/cache.(*P).run
        /go/pkg/mod/k8s.io/client-go@v0.1.0/tools/cache/p.go:20
  > started by example.com/x.Start
        /src0/x/c.go:5
  sync.Mutex.Lock
    sync.(*Mutex).Lock
        /usr/lib/go/src/sync/mutex.go:46
  > example.com/x.(*C).get
        /src0/x/c.go:30
  > started by example.com/x.Start
        /src0/x/c.go:6`
	if err.Error() != want {
		t.Errorf("got\n%s\nwant\n%s", err, want)
	}
	err.Goroutines = err.Goroutines[1:]
	if s := err.Error(); strings.Contains(s, "hot loop") || !strings.Contains(s, "outside the bubble") || !strings.Contains(s, "c.go:30") {
		t.Errorf("got\n%s", s)
	}
}

// A loop of controller-runtime's that ends of contexts start is told from the user's own.
func TestStuckInAManagerThatStarts(t *testing.T) {
	const manager = "sigs.k8s.io/controller-runtime/pkg/manager.(*runnableGroup).Start"
	for state, want := range map[string]bool{"running": true, "runnable": true, "select": false} {
		e := &StuckError{Timeout: time.Second, Goroutines: []Goroutine{
			{State: "running", Stack: []Frame{{Function: "example.com/mine.spin", User: true}}},
			{State: state, Stack: []Frame{{Function: "context.(*cancelCtx).Err"}, {Function: manager + ".func1"}, {Function: manager}, {Function: "example.com/mine.run"}}},
		}}
		if text := e.Error(); strings.Contains(text, "This is controller-runtime's loop") != want || want != strings.Contains(text, "-simtest.crashes=-1") {
			t.Errorf("with a manager's goroutine in state %q: want the hint: %v:\n%s", state, want, text)
		}
	}
}

// Where nothing else runs, the failure is not called a loop of the user's.
func TestStuckIsCalledByItsCause(t *testing.T) {
	manager := Goroutine{State: "running", Stack: []Frame{{Function: "sigs.k8s.io/controller-runtime/pkg/manager.(*runnableGroup).Start"}, {Function: "example.com/mine.run"}}}
	own := Goroutine{State: "running", Stack: []Frame{{Function: "example.com/mine.spin", User: true}}}
	for want, running := range map[string][]Goroutine{
		"a manager that is told to end while it starts: ": {manager, manager},
		"a hot loop: ": {manager, own},
	} {
		if text := (&StuckError{Timeout: time.Second, Goroutines: running}).Error(); !strings.HasPrefix(text, want) {
			t.Errorf("want %q:\n%s", want, text)
		}
	}
}

// Loops that are a library's are told from the user's own, and so is a key that goes round in a work queue: what that waits for is a deadline, as often as not.
func TestStuckInALibrary(t *testing.T) {
	const (
		events = "k8s.io/client-go/tools/record.(*eventBroadcasterImpl).StartEventWatcher"
		queue  = "k8s.io/client-go/util/workqueue.(*Typed[...]).Get"
		worker = "example.com/mine.(*C).processNextWorkItem"
	)
	for name, c := range map[string]struct {
		state string
		stack []string
		want  string
	}{
		"events":              {"runnable", []string{"context.(*cancelCtx).Done", events + ".func1", events}, "This is client-go's loop, not yours"},
		"a queue":             {"runnable", []string{"sync.(*Cond).Wait", queue, worker, "example.com/mine.Run"}, "A key goes round in a work queue"},
		"what a queue starts": {"running", []string{"example.com/mine.spin", queue}, ""},
		"a worker":            {"running", []string{"example.com/mine.spin", worker}, ""},
		"a queue that waits":  {"sync.Cond.Wait", []string{"sync.(*Cond).Wait", queue, worker, "example.com/mine.Run"}, ""},
	} {
		g := Goroutine{State: c.state}
		for _, f := range c.stack {
			g.Stack = append(g.Stack, Frame{Function: f})
		}
		text := (&StuckError{Timeout: time.Second, Goroutines: []Goroutine{g}}).Error()
		for _, says := range []string{"This is client-go's loop, not yours", "A key goes round in a work queue"} {
			if strings.Contains(text, says) != (says == c.want) {
				t.Errorf("%s: want %q:\n%s", name, c.want, text)
			}
		}
	}
}

// Who waits for a real connection is told what to do: about what listens, and about a client.
func TestStuckInTheNetwork(t *testing.T) {
	for function, want := range map[string]string{
		"net.(*TCPListener).Accept":        "A server listens for real connections",
		"net/http.(*persistConn).readLoop": "A connection to a real server is open",
	} {
		waits := Goroutine{State: "IO wait", Stack: []Frame{{Function: "net.(*netFD).wait"}, {Function: function}}}
		for state, says := range map[string]bool{"IO wait": true, "chan receive": false} {
			waits.State = state
			e := &StuckError{Timeout: time.Second, Goroutines: []Goroutine{waits}}
			if text := e.Error(); strings.Contains(text, want) != says || strings.Count(text, "virtual time passes meanwhile") > 1 {
				t.Errorf("in %s, state %q: want %q: %v:\n%s", function, state, want, says, text)
			}
		}
	}
}

// Goroutines that are all alike are one line, however many there are.
func TestLinesOf(t *testing.T) {
	a, b := Goroutine{State: "select", At: "a.F (a.go:1)", Started: "a.G (a.go:2)"}, Goroutine{State: "select", At: "b.F (b.go:1)", Started: "a.G (a.go:2)"}
	got := (&LeakError{Goroutines: []Goroutine{a, b, a, a}}).Error()
	want := "the run has ended, but these goroutines are blocked for good:\n  select in a.F (a.go:1), started by a.G (a.go:2) (×3)\n  select in b.F (b.go:1), started by a.G (a.go:2)"
	if got != want {
		t.Errorf("it says %q, want %q", got, want)
	}
}

// Where a controller is a dependency of the test, its call is the one that is named, and it comes before what only Kubernetes' libraries have left behind.
func TestLeakOfAController(t *testing.T) {
	stack := func(functions ...string) (g Goroutine) {
		for _, f := range functions {
			g.Stack = append(g.Stack, frameOf(f+"()", "\t/go/pkg/mod/x@v1/a.go:7"))
		}
		g.State, g.At, g.Started = "select", g.Stack[0].String(), g.Stack[len(g.Stack)-1].String()
		return g
	}
	library := stack("k8s.io/apimachinery/pkg/util/wait.Until", "sigs.k8s.io/controller-runtime/pkg/manager.run", "example.com/c.Start")
	controller := stack("k8s.io/apimachinery/pkg/util/wait.Until", "golang.org/x/sync/errgroup.(*Group).Go", "example.com/c.(*C).Run", "example.com/c.Start")
	got := (&LeakError{Goroutines: []Goroutine{library, controller}}).Error()
	_, got, _ = strings.Cut(got, ":\n")
	want := "  select in k8s.io/apimachinery/pkg/util/wait.Until (a.go:7), called by example.com/c.(*C).Run (a.go:7), started by example.com/c.Start (a.go:7)\n" +
		"  select in k8s.io/apimachinery/pkg/util/wait.Until (a.go:7), started by example.com/c.Start (a.go:7)"
	if got != want {
		t.Errorf("it says\n%s\nwant\n%s", got, want)
	}
}

// Of a deep stack, both ends are shown.
func TestTraceShowsBothEnds(t *testing.T) {
	for calls, want := range map[int]string{innerFrames + outerFrames: "", innerFrames + outerFrames + 1: "    … and 1 more\n", 1000: "    … and 960 more\n"} {
		g := Goroutine{State: "running"}
		for i := range calls {
			g.Stack = append(g.Stack, Frame{Function: fmt.Sprintf("example.com/x.f%d", i), Position: "x.go:1"})
		}
		text := g.trace()
		if n := strings.Count(text, "x.go:1"); n != innerFrames+outerFrames || !strings.Contains(text, want) || strings.Contains(text, "more") != (want != "") ||
			!strings.Contains(text, "x.f0\n") || !strings.Contains(text, fmt.Sprintf("x.f%d\n", calls-1)) {
			t.Errorf("%d calls: want %q:\n%s", calls, want, text)
		}
	}
}
