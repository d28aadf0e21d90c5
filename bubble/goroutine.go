package bubble

import (
	"bytes"
	"fmt"
	"runtime"
	"slices"
	"strings"
)

// Goroutine is one goroutine of a bubble.
type Goroutine struct {
	State   string // as the runtime calls it: "chan receive", "IO wait", "running"
	At      string // the innermost function outside the runtime and package sync, with file:line
	Started string // the function that started it, with file:line
	Stack   []Frame
}

// String returns a one-line description. Where a library waits, it has the program's own call of that, too.
func (g Goroutine) String() string {
	called := ""
	if by := g.user(); by != g.At && by != g.Started {
		called = ", called by " + by
	}
	return fmt.Sprintf("%s in %s%s, started by %s", g.State, g.At, called, g.Started)
}

// Runs reports whether the goroutine was running, or waited only for a processor.
func (g Goroutine) Runs() bool {
	return strings.HasPrefix(g.State, "run") || strings.HasPrefix(g.State, "preempted") || strings.HasPrefix(g.State, "GC ")
}

func listing(gs []Goroutine) string {
	if len(gs) == 0 {
		return "  (none that can be told apart from those outside)"
	}
	return strings.Join(linesOf(gs), "\n")
}

// linesOf describes goroutines, those that are all alike on one line.
func linesOf(gs []Goroutine) (lines []string) {
	alike := map[string]int{}
	for _, g := range gs {
		line := "  " + g.String()
		if alike[line]++; alike[line] == 1 {
			lines = append(lines, line)
		}
	}
	for i, line := range lines {
		if n := alike[line]; n > 1 {
			lines[i] += fmt.Sprintf(" (×%d)", n)
		}
	}
	return lines
}

// dump returns the stacks of all goroutines. Each run ends with one, and few are left then.
func dump() []byte {
	for size := 1 << 16; ; size *= 4 {
		buf := make([]byte, size)
		if n := runtime.Stack(buf, true); n < size || size >= 1<<27 {
			return buf[:n]
		}
	}
}

// ownBubble returns how a dump of stacks marks the goroutines of the caller's bubble: "synctest bubble 7".
func ownBubble() string {
	head := make([]byte, 256)
	head = head[:runtime.Stack(head, false)]
	if i := bytes.Index(head, []byte("synctest bubble ")); i >= 0 {
		head = head[i:]
		return string(head[:bytes.IndexAny(head, ",]")])
	}
	return "synctest bubble"
}

// bubbled returns the goroutines of a bubble in a dump; with restless, only those that are not durably blocked. Those that
// themselves wait for quiescence, those of the testing package, and what earlier bubbles have left behind, are left out.
func bubbled(stacks []byte, bubble string, restless bool) []Goroutine {
	var found []Goroutine
	for _, block := range bytes.Split(stacks, []byte("\n\n")) {
		if g, durable, ok := goroutineOf(block, bubble); ok && !(restless && durable) && !g.ofTesting() {
			found = append(found, g)
		}
	}
	return found
}

// runsOwn finds the goroutine of a bubble that steps the kernel, in a dump.
func runsOwn(stacks []byte, bubble string) (Goroutine, bool) {
	for _, block := range bytes.Split(stacks, []byte("\n\n")) {
		if g, _, ok := goroutineOf(block, bubble); ok && strings.Contains(g.Started, "testingSynctestTest") {
			return g, true
		}
	}
	return Goroutine{}, false
}

// ofTesting reports whether a goroutine is of the testing package, or the run's own, which that has started.
func (g Goroutine) ofTesting() bool {
	return strings.HasPrefix(g.Started, "testing.") || strings.HasPrefix(g.Started, "internal/synctest.") || strings.HasPrefix(g.At, "testing.")
}

// goroutineOf reads a goroutine of a bubble from its part of a dump, unless it waits for quiescence.
func goroutineOf(block []byte, bubble string) (g Goroutine, durable, ok bool) {
	lines := strings.Split(strings.TrimSpace(string(block)), "\n")
	_, state, found := strings.Cut(lines[0], "[")
	if !found || !strings.Contains(state, bubble+",") && !strings.Contains(state, bubble+"]") || strings.HasPrefix(state, "synctest.") {
		return Goroutine{}, false, false
	}
	durable = strings.Contains(state, "(durable)")
	state, _, _ = strings.Cut(state, ",")
	g = Goroutine{State: strings.TrimSuffix(state, " (durable)"), At: "the runtime", Started: "the run"}
	for i := 1; i+1 < len(lines); i += 2 {
		frame := frameOf(lines[i], lines[i+1])
		g.Stack = append(g.Stack, frame)
		if strings.HasPrefix(lines[i], "created by ") {
			g.Started = frame.String()
			break
		}
		if g.At == "the runtime" && !internalFrame(lines[i]) {
			g.At = frame.String()
		}
	}
	return g, durable, true
}

func internalFrame(line string) bool {
	for _, p := range []string{"runtime.", "sync.", "internal/", "sync/atomic."} {
		if strings.HasPrefix(line, p) {
			return true
		}
	}
	return false
}

// ThisGoroutine returns how a dump of stacks begins the calling goroutine: "goroutine 7 ".
func ThisGoroutine() string {
	head := make([]byte, 64)
	head = head[:runtime.Stack(head, false)]
	return string(head[:bytes.IndexByte(head, '[')])
}

// CallsOf returns the calls under way on the goroutine that ThisGoroutine names, innermost first, nil if it has ended.
func CallsOf(goroutine string) (calls []Frame) {
	for _, block := range bytes.Split(dump(), []byte("\n\n")) {
		if !bytes.HasPrefix(block, []byte(goroutine)) {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(block)), "\n")
		for i := 1; i+1 < len(lines) && !strings.HasPrefix(lines[i], "created by "); i += 2 {
			calls = append(calls, frameOf(lines[i], lines[i+1]))
		}
		break
	}
	return calls
}

// WaitsInProgram returns the call of the program's own in which the goroutine waits, and that of the library in which it does so, the zero Frame for none. What
// waits in a library is mostly idle, like a worker for its queue: it counts if it waits for other goroutines or for a lock, or in a function
// that is for waiting. A goroutine that sleeps does not wait.
func (g Goroutine) WaitsInProgram() (at, library Frame, is bool) {
	calls := g.Stack
	if n := len(calls) - 1; n >= 0 && calls[n].String() == g.Started {
		calls = calls[:n]
	}
	inner := slices.IndexFunc(calls, func(f Frame) bool { return !internalFrame(f.Function) })
	user := slices.IndexFunc(calls, func(f Frame) bool { return f.User })
	switch {
	case user < 0 || g.Runs() || g.State == "sleep":
		return Frame{}, Frame{}, false
	case user == inner:
		return calls[user], Frame{}, true
	}
	library = calls[user-1]
	return calls[user], library, g.waitsForLock() || g.State == "sync.WaitGroup.Wait" || g.State == "chan send" || library.isForWaiting()
}

// isForWaiting reports whether a function waits until something has come true, by its name.
func (f Frame) isForWaiting() bool {
	name, _, _ := strings.Cut(f.Function[strings.LastIndex(f.Function, "/")+1:], "[")
	name = name[strings.LastIndex(name, ".")+1:]
	return slices.ContainsFunc([]string{"Wait", "Poll", "Acquire", "Shutdown", "ShutDown", "Stop", "Close", "Drain"}, func(p string) bool {
		return strings.HasPrefix(name, p)
	})
}
