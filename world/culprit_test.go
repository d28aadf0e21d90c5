package world

import (
	"errors"
	"testing"

	"github.com/informersim/informersim/reports"
)

func died(crash string) *culprit { return (&outcome{dead: true, crash: crash}).culprit() }

func hung(text string) *culprit { return (&outcome{stuck: true, err: errors.New(text)}).culprit() }

const loop = "a hot loop: the bubble did not become quiescent within 30s of real time\n\nThe whole stack, with > at what is yours:\n  running\n"

// Two runs have ended their process in the same way if it was the same message, but for numbers, in the same place. What is not known of one may be the other's.
func TestCulprit(t *testing.T) {
	const in = "\n  in p.f (f.go:3)\n  called by p.g (g.go:4)"
	for _, test := range []struct {
		name string
		a, b *culprit
		same bool
	}{
		{"equal", died("panic: no" + in), died("panic: no" + in), true},
		{"another number", died("panic: index 3 out of range" + in), died("panic: index 12 out of range" + in), true},
		{"another message", died("panic: no" + in), died("panic: yes" + in), false},
		{"another line", died("panic: no" + in), died("panic: no\n  in p.f (f.go:5)\n  called by p.g (g.go:4)"), false},
		{"a fatal error that is not known", died(unknownFatal + in), died("fatal error: concurrent map writes" + in), true},
		{"two that are", died("fatal error: concurrent map reads" + in), died("fatal error: concurrent map writes" + in), false},
		{"an exit of which nothing is known", died(""), died(reports.Exited + "3"), true},
		{"another exit code", died(reports.Exited + "3"), died(reports.Exited + "4"), false},
		{"an exit and a panic", died(""), died("panic: no" + in), false},
		{"what a process says last", died(reports.Exited + "1: 12:00 a is gone"), died(reports.Exited + "1: 12:01 b is gone"), false},
		{"a time limit", died("panic: test timed out after 1m0s"), died("panic: test timed out after 1m0s"), false},
		{"one loop, seen in two calls", hung(loop + "  > p.a\n        a.go:1\n  > p.loop\n        a.go:2\n    q.r\n        r.go:1"),
			hung(loop + "  > p.b\n        a.go:9\n  > p.loop\n        a.go:2\n    q.r\n        r.go:1"), true},
		{"two loops", hung(loop + "  > p.a\n        a.go:1\n  > p.loop\n        a.go:2"), hung(loop + "  > p.a\n        a.go:1\n  > p.other\n        a.go:2"), false},
		{"the loop of a library", hung(loop + "    q.r\n        r.go:1"), hung(loop + "    q.s\n        s.go:1"), false},
		{"a loop and a deadlock", hung(loop + "  > p.loop\n        a.go:2"), hung("these wait for locks\n\nThe whole stack, with >:\n  sync.Mutex.Lock\n  > p.loop\n        a.go:2"), false},
		{"nothing", (&outcome{}).culprit(), (&outcome{}).culprit(), false},
	} {
		if got := test.a.is(test.b); got != test.same {
			t.Errorf("%s: they are the same: %v", test.name, got)
		}
		if test.a.is(test.b) != test.b.is(test.a) {
			t.Errorf("%s: it depends on which comes first", test.name)
		}
	}
}
