package bubble

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// StuckError reports that a step did not become quiescent: a goroutine in the bubble runs for ever, or waits for something
// outside the bubble. The run's own goroutine stands still from then on, so that what it has written can be read.
type StuckError struct {
	Timeout    time.Duration // in real time; 0 if Locked
	Goroutines []Goroutine   // those that are not durably blocked
	Locked     bool          // all of these wait for locks
	Holders    []Goroutine   // of those that wait for something else, some that may have the locks
	Requests   []Goroutine   // those that wait for the answer to a request over a real connection, and have calls of the program's own
}

// split returns the goroutines that run, and those that wait.
func (e *StuckError) split() (running, waiting []Goroutine) {
	for _, g := range e.Goroutines {
		if g.Runs() {
			running = append(running, g)
		} else {
			waiting = append(waiting, g)
		}
	}
	return running, waiting
}

// Error says which goroutines keep the bubble from becoming quiescent, with their whole stacks.
func (e *StuckError) Error() string {
	running, waiting := e.split()
	var b strings.Builder
	switch {
	case len(running) > 0:
		what := "a hot loop"
		if !slices.ContainsFunc(running, func(g Goroutine) bool { return !spinsAsItStarts(g) }) {
			what = "a manager that is told to end while it starts"
		}
		fmt.Fprintf(&b, "%s: the bubble did not become quiescent within %v of real time, because %s without ever waiting. Virtual time passes only "+
			"while every goroutine waits, so nothing else can happen.\n", what, e.Timeout, goroutinesRun(len(running)))
	case e.Locked:
		e.locked(&b, waiting)
	case len(waiting) > 0:
		fmt.Fprintf(&b, "the bubble did not become quiescent within %v of real time. These goroutines wait for something that was made outside the bubble "+
			"(a channel in a package variable, a mutex, real I/O):\n%s\n", e.Timeout, listing(waiting))
	default:
		fmt.Fprintf(&b, "the bubble did not become quiescent within %v of real time, and no goroutine in it could be told apart from those outside.\n", e.Timeout)
	}
	if i := slices.IndexFunc(running, spinsAsItStarts); i >= 0 {
		b.WriteString("\nThis is controller-runtime's loop, not yours: a manager whose context ends while its caches are being filled spins " +
			"(kubernetes-sigs/controller-runtime#3440), as a SIGTERM would have it do. A crash does not end that context, nor does the end of a run. So the program does itself; " +
			"or the manager runs on a goroutine whose starter has ended, and nothing tells which process it is of: call its Start in the function that env.Go is given, " +
			"or run without crashes: -simtest.crashes=-1, or Options.CrashProbability: -1.\n")
	}
	for _, k := range knownSpins {
		if slices.ContainsFunc(running, k.is) {
			b.WriteString("\n" + k.hint + "\n")
		}
	}
	b.WriteString(network(waiting))
	if len(e.Requests) > 0 {
		b.WriteString("These wait for an answer:\n" + listing(e.Requests) + "\n")
	}
	stacks := append(running, waiting...)
	if len(stacks) > 0 {
		b.WriteString("\nThe whole stack, with > at what is neither the standard library's nor a dependency's:\n")
	}
	for i, g := range stacks {
		if i == maxStacks {
			fmt.Fprintf(&b, "  … and %d more goroutines\n", len(stacks)-i)
			break
		}
		b.WriteString(g.trace())
	}
	return strings.TrimRight(b.String(), "\n")
}

// network says what to do about goroutines that wait for real connections, of which there are two kinds: what was started to listen, and what a client
// keeps open.
func network(waiting []Goroutine) string {
	listens, waits := false, false
	for _, g := range waiting {
		if g.State != "IO wait" {
			continue
		}
		waits = true
		listens = listens || slices.ContainsFunc(g.Stack, func(f Frame) bool { return strings.HasSuffix(f.Function, ".Accept") })
	}
	switch {
	case listens:
		return "\nA server listens for real connections, and no virtual time passes meanwhile. Leave it out of the test, or call its handler directly. A manager of " +
			"controller-runtime has none with Metrics.BindAddress: \"0\", HealthProbeBindAddress: \"0\" and PprofBindAddress: \"\"; for its webhooks, see simtest's " +
			"Options.Webhooks and Env.ServeWebhooks.\n"
	case waits:
		return "\nA connection to a real server is open, and no virtual time passes meanwhile; http.Client keeps one for the next request. Give the client of the other " +
			"service an http.RoundTripper that calls a handler directly, or put a fake in its place.\n"
	}
	return ""
}

// locked tells of goroutines that wait for locks.
func (e *StuckError) locked(b *strings.Builder, waiting []Goroutine) {
	fmt.Fprintf(b, "the bubble does not become quiescent: these goroutines wait for locks, and none runs that could release one:\n%s\n", listing(waiting))
	if len(e.Holders) == 0 {
		b.WriteString("It is a deadlock, or whoever has the lock waits for a later step.\n")
		return
	}
	b.WriteString("It is a deadlock, or whoever has the lock waits for a later step: for an answer, or for time to pass. It may be one of these:\n")
	for _, g := range e.Holders {
		fmt.Fprintf(b, "  %s in %s\n", g.State, g.user())
	}
}

// maxHolders bounds the goroutines that are named as those that may have a lock.
const maxHolders = 4

// user describes the innermost call of the program's own, or else of a controller's that it tests.
func (g Goroutine) user() string {
	for _, own := range owned {
		if i := slices.IndexFunc(g.Stack, own); i >= 0 {
			return g.Stack[i].String()
		}
	}
	return g.At
}

// mayHold picks, of all goroutines, those that wait for something else than a lock in a function of a package in which others wait for locks.
func mayHold(all, waiting []Goroutine) (found []Goroutine) {
	packages := map[string]bool{}
	for _, g := range waiting {
		packages[packageOf(g.At)] = true
	}
	for _, g := range all {
		if g.waitsForLock() || !slices.ContainsFunc(g.Stack, func(f Frame) bool { return packages[packageOf(f.Function)] }) {
			continue
		}
		if found = append(found, g); len(found) == maxHolders {
			break
		}
	}
	return found
}

// asks picks those goroutines that wait for the answer to a request of net/http's on behalf of the program.
func asks(all []Goroutine) (found []Goroutine) {
	for _, g := range all {
		if g.ofProgram() > 0 && slices.ContainsFunc(g.Stack, func(f Frame) bool { return strings.HasPrefix(f.Function, "net/http.(*Transport).roundTrip") }) {
			if found = append(found, g); len(found) == maxHolders {
				break
			}
		}
	}
	return found
}

// knownSpin is a way to run without a pause that is not, or need not be, a mistake of the program, and what to do about it. It is told by a call that is under way.
type knownSpin struct{ in, hint string }

var knownSpins = []knownSpin{
	{"k8s.io/client-go/tools/record.(*eventBroadcasterImpl).StartEventWatcher.", "This is client-go's loop, not yours: up to v0.35, an event broadcaster spins when what its StartRecordingToSink or StartLogging has " +
		"returned is stopped, as Knative's reconcilers do when their context ends. End it with the broadcaster's Shutdown; Knative's reconcilers take the recorder of one that you make (controller.WithEventRecorder)."},
	{"k8s.io/client-go/util/workqueue.(", "A key goes round in a work queue: it is put back without a pause, by Add, or by AddAfter with no time left. It may wait for a deadline: a timer fires at its very instant, and as no time " +
		"passes while code runs, now.After(deadline) says no, and nothing is left of deadline.Sub(now). Ask !now.Before(deadline), or give the program a clock that tells a later time whenever it is asked."},
}

func (k knownSpin) is(g Goroutine) bool {
	calls := g.Stack[:max(len(g.Stack)-1, 0)] // the last is who started it
	return slices.ContainsFunc(calls, func(f Frame) bool { return strings.HasPrefix(f.Function, k.in) })
}

// maxStacks bounds the goroutines whose stacks are printed.
const maxStacks = 4

func goroutinesRun(n int) string {
	if n == 1 {
		return "a goroutine runs"
	}
	return fmt.Sprintf("%d goroutines run", n)
}
