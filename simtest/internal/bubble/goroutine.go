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
	lines := make([]string, len(gs))
	for i, g := range gs {
		lines[i] = "  " + g.String()
	}
	return strings.Join(lines, "\n")
}

// dump returns the stacks of all goroutines.
func dump() []byte {
	for size := 1 << 20; ; size *= 2 {
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
		lines := strings.Split(strings.TrimSpace(string(block)), "\n")
		_, state, ok := strings.Cut(lines[0], "[")
		if !ok || !strings.Contains(state, bubble+",") && !strings.Contains(state, bubble+"]") || restless && strings.Contains(state, "(durable)") ||
			strings.HasPrefix(state, "synctest.") {
			continue
		}
		state, _, _ = strings.Cut(state, ",")
		g := Goroutine{State: strings.TrimSuffix(state, " (durable)"), At: "the runtime", Started: "the run"}
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
		if strings.HasPrefix(g.Started, "testing.") || strings.HasPrefix(g.Started, "internal/synctest.") ||
			strings.HasPrefix(g.At, "testing.") {
			continue
		}
		found = append(found, g)
	}
	return found
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

// WaitsInProgram returns the call in which the goroutine waits, and whether that is one of the program's own, as opposed to a library's that this one has called. A
// goroutine that sleeps does not wait.
func (g Goroutine) WaitsInProgram() (at Frame, is bool) {
	i := slices.IndexFunc(g.Stack, func(f Frame) bool { return !internalFrame(f.Function) })
	if i < 0 || g.Runs() || g.State == "sleep" {
		return Frame{}, false
	}
	return g.Stack[i], g.Stack[i].User
}
