package simtest

import (
	"fmt"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/informersim/informersim/simtest/internal/bubble"
	"github.com/informersim/informersim/simtest/internal/wire"
)

// maxWaiting bounds the goroutines that a failure names.
const maxWaiting = 8

// tellWaiting tells the engine where goroutines wait in the program's own code, as the body fails because something has not come true: one that waits for what
// never comes is a reason, also where it waits in a library for others to end, or for something to come true. What else waits in a library is mostly idle: a
// worker for its queue, an informer for its watch.
func (w *world) tellWaiting() {
	lines := waitingIn(w.bubble.Goroutines())
	if len(lines) == 0 {
		return
	}
	w.event(func(p *wire.Packet) {
		p.Byte(wire.EventWaiting).Num(int64(len(lines)))
		for _, line := range lines {
			p.Text(line)
		}
	})
}

// sourceLine returns the text of a file's line, "" if it cannot be read: where a test is run, its source need not be.
func sourceLine(position string) string {
	colon := strings.LastIndex(position, ":")
	if colon < 0 {
		return ""
	}
	n, err := strconv.Atoi(position[colon+1:])
	data, failed := os.ReadFile(position[:colon])
	lines := strings.Split(string(data), "\n")
	if err != nil || failed != nil || n < 1 || n > len(lines) {
		return ""
	}
	return strings.TrimSpace(lines[n-1])
}

// waitingIn describes the goroutines that wait in the program's own code, those at the same place together.
func waitingIn(all []bubble.Goroutine) (lines []string) {
	times := map[string]int{}
	for _, g := range all {
		at, library, is := g.WaitsInProgram()
		text := sourceLine(at.Position)
		if !is || strings.Contains(g.Started, "(*world).act") || g.State == "chan receive" && strings.Contains(text, "Done()") {
			continue // also one that waits for its context to end, as it should
		}
		line := g.State + " in " + at.String()
		if library.Function != "" {
			line = g.State + " in " + library.String() + ", called by " + at.String()
		}
		if text != "" {
			line += ": " + text
		}
		if times[line]++; times[line] == 1 {
			lines = append(lines, line)
		}
	}
	slices.Sort(lines)
	for i, line := range lines {
		if n := times[line]; n > 1 {
			lines[i] = fmt.Sprintf("%s (%d goroutines)", line, n)
		}
	}
	if n := len(lines) - maxWaiting; n > 1 {
		lines = append(lines[:maxWaiting], fmt.Sprintf("… and at %d other places", n))
	}
	return lines
}
