package bubble

import (
	"bytes"
	"fmt"
	"runtime"
	"strings"
)

// Goroutine is one goroutine of a bubble.
type Goroutine struct {
	State   string // as the runtime calls it: "chan receive", "IO wait", "running"
	At      string // the innermost function outside the runtime and package sync, with file:line
	Started string // the function that started it, with file:line
	Stack   []Frame
}

// String returns a one-line description.
func (g Goroutine) String() string {
	return fmt.Sprintf("%s in %s, started by %s", g.State, g.At, g.Started)
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
			where := functionAt(lines[i], lines[i+1])
			g.Stack = append(g.Stack, frameOf(lines[i], lines[i+1]))
			if strings.HasPrefix(lines[i], "created by ") {
				g.Started = where
				break
			}
			if g.At == "the runtime" && !internalFrame(lines[i]) {
				g.At = where
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

// functionAt renders two lines of a stack, the function and its position, as "pkg.f (file.go:12)".
func functionAt(function, position string) string {
	function = strings.TrimPrefix(function, "created by ")
	function, _, _ = strings.Cut(function, " in goroutine ")
	if i := strings.LastIndex(function, "("); i > 0 && strings.HasSuffix(function, ")") {
		function = function[:i]
	}
	position = strings.TrimSpace(position)
	position, _, _ = strings.Cut(position, " +0x")
	if i := strings.LastIndex(position, "/"); i >= 0 {
		position = position[i+1:]
	}
	return fmt.Sprintf("%s (%s)", function, position)
}
