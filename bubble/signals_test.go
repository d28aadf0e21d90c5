package bubble

import (
	"fmt"
	"os"
	"os/signal"
	"strings"
	"testing"
)

// Signals may be asked for in more than one run of a process: nothing that the runtime keeps for all of them belongs to the first bubble.
func TestSignalsInSeveralBubbles(t *testing.T) {
	for seed := range uint64(2) {
		mustRun(t, seed, func() {
			c := make(chan os.Signal, 1)
			signal.Notify(c, os.Interrupt)
			signal.Stop(c)
		})
	}
}

// A line says where the program called what waits, and a manager that does not end is not thirty lines.
func TestLeaksAreOfTheProgram(t *testing.T) {
	idle := Goroutine{State: "select", At: "k8s.io/x.Run (run.go:1)", Started: "k8s.io/x.Start (run.go:9)", Stack: []Frame{{Function: "k8s.io/x.Run"}, {Function: "k8s.io/x.Start"}}}
	own := Goroutine{State: "select", At: "k8s.io/x.Start (run.go:5)", Started: "k8s.io/x.Go (run.go:3)", Stack: []Frame{
		{Function: "k8s.io/x.Start", Position: "run.go:5"}, {Function: "example.com/m.manager", Position: "/m/m.go:7", User: true}, {Function: "k8s.io/x.Go"},
	}}
	e := &LeakError{}
	for n := range 20 {
		other := idle
		other.At = fmt.Sprintf("k8s.io/x.Run%d (run.go:1)", n)
		e.Goroutines = append(e.Goroutines, other)
	}
	e.Goroutines = append(e.Goroutines, own)
	lines := strings.Split(e.Error(), "\n")
	if want := "  select in k8s.io/x.Start (run.go:5), called by example.com/m.manager (m.go:7), started by k8s.io/x.Go (run.go:3)"; lines[1] != want {
		t.Errorf("the first line is\n%s\nwant\n%s", lines[1], want)
	}
	if last := lines[len(lines)-1]; len(lines) != 14 || last != "  … and 9 more" {
		t.Errorf("%d lines, the last is %q", len(lines), last)
	}
	stuck := &StuckError{Goroutines: []Goroutine{{State: "IO wait"}}, Requests: asks([]Goroutine{idle, {State: "select", At: "net/http.x", Stack: []Frame{
		{Function: "net/http.(*Transport).roundTrip"}, {Function: "example.com/m.ask", Position: "/m/m.go:11", User: true}, {Function: "k8s.io/x.Go"},
	}}})}
	if text := stuck.Error(); !strings.Contains(text, "These wait for an answer:\n  select in net/http.x, called by example.com/m.ask (m.go:11)") || strings.Contains(text, "k8s.io/x.Run") {
		t.Errorf("it says\n%s", text)
	}
}
