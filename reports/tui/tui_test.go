package tui_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/internal/traces"
	"github.com/informersim/informersim/reports/timeline"
	"github.com/informersim/informersim/reports/tui"
	"github.com/informersim/informersim/sim"
)

var looks = regexp.MustCompile("\x1b\\[[0-9;]*m")

// press presses keys, and returns the screen without its colors.
func press(m *tui.Model, keys ...tui.Key) string {
	for _, k := range keys {
		m.Press(k)
	}
	return looks.ReplaceAllString(m.View(), "")
}

// The cursor begins at the violation and goes where keys send it, and not beyond the ends; the state is that of the step at the cursor.
func TestKeys(t *testing.T) {
	m := tui.New(traces.Read(t, traces.Gap), true)
	if screen := press(m); m.Step() != 25 || !strings.Contains(screen, "FAIL: ReplaceDeletesMissing at step 25") || !strings.Contains(screen, "breaks ReplaceDeletesMissing: informer i1 knew default/b") {
		t.Fatalf("it begins at step %d:\n%s", m.Step(), screen)
	}
	for _, test := range []struct {
		keys []tui.Key
		step uint64
		want string
	}{
		{[]tui.Key{tui.Down}, 25, "this is the last step"},
		{[]tui.Key{tui.Up}, 24, "\nstep 24 of 25, at 1.413s"},
		{[]tui.Key{"F"}, 17, "the fault watch-410 hits conn/i1"},
		{[]tui.Key{"F"}, 17, "no fault before this step; the run has 1 fault"},
		{[]tui.Key{tui.Home}, 1, `>       1         0s  the script runs "resource pods"`},
		{[]tui.Key{"k"}, 1, "this is the first step"},
		{[]tui.Key{"f"}, 17, ">F     17"},
		{[]tui.Key{"f"}, 17, "no fault after this step"},
		{[]tui.Key{"j", "j"}, 19, "step 19 of 25"},
		{[]tui.Key{"v"}, 25, ">V     25"},
		{[]tui.Key{"t"}, 25, "the trace names no run that passes"},
		{[]tui.Key{"n"}, 25, "nothing is searched for"},
		{[]tui.Key{"/", "D", "x", tui.Backspace, "e", "f", "a", "u", "l", "t", "/", "b"}, 25, " /Default/b▏"},
		{[]tui.Key{tui.Enter}, 13, ""}, // from the beginning: steps 13 and later are about it
		{[]tui.Key{"n"}, 15, "/default/b · n/N"},
		{[]tui.Key{"N", "N"}, 21, "from the other end on"},
		{[]tui.Key{"/", "n", "o", "n", "e", tui.Enter}, 21, `no step is about "none"`},
		{[]tui.Key{"/", tui.Escape, tui.Escape}, 21, "? help"},
		{[]tui.Key{"g", "c"}, 1, "step 1 of 25"},
		{[]tui.Key{"G"}, 25, "step 25 of 25"},
		{[]tui.Key{"?"}, 25, "q, Ctrl-C       quit"},
		{[]tui.Key{"x"}, 25, "step 25 of 25"},
		{[]tui.Key{tui.PageUp}, 18, "step 18 of 25"},
		{[]tui.Key{tui.PageDown}, 25, "step 25 of 25"},
	} {
		screen := press(m, test.keys...)
		if m.Step() != test.step || !strings.Contains(screen, test.want) {
			t.Errorf("after %q the cursor is at step %d, want %d; the screen lacks %q:\n%s", test.keys, m.Step(), test.step, test.want, screen)
		}
	}
	twin := traces.Read(t, traces.Gap)
	twin.Conclusion.Twin = &reports.Twin{Version: 1, Change: "a fault does not happen", Partings: []reports.Parting{{Here: []reports.Line{{Step: 17}}}}}
	if x := tui.New(twin, false); !strings.Contains(press(x, "t"), "The run passes if a fault does not happen") || x.Step() != 17 {
		t.Errorf("t leads to step %d", x.Step())
	}
	m.Press("/")
	if m.Press("q") {
		t.Error("q leaves while a search is typed")
	}
	m.Press(tui.Escape)
	if !m.Press("q") || !m.Press(tui.Interrupt) {
		t.Error("q, or Ctrl-C, does not leave")
	}
}

// Whatever the size of the terminal, the screen fills it and does not exceed it; all of a state can be scrolled to.
func TestSizes(t *testing.T) {
	tl := traces.Read(t, traces.Gap)
	for _, size := range [][2]int{{80, 24}, {200, 60}, {130, 10}, {40, 8}, {20, 3}, {5, 2}, {1, 1}} {
		m := tui.New(tl, false)
		m.Resize(size[0], size[1])
		for _, k := range []tui.Key{"", "?", "x", "]", "]", "c", "[", "/", "a"} {
			lines := strings.Split(press(m, k), "\n")
			if len(lines) != size[1] {
				t.Errorf("%v: after %q the screen has %d lines", size, k, len(lines))
			}
			for _, line := range lines {
				if n := utf8.RuneCountInString(line); n > size[0] {
					t.Errorf("%v: after %q a line has %d columns: %q", size, k, n, line)
				}
			}
		}
	}
	m := tui.New(tl, false)
	seen := ""
	for range 20 {
		seen += press(m, "]")
	}
	if screen := press(m); !strings.Contains(screen, "i1/h1 was told") || !strings.Contains(seen, "i1 queue should have") || !strings.Contains(seen, "i1 Indexer has") || strings.Contains(screen, "more line") {
		t.Errorf("the end of the state is out of reach:\n%s", screen)
	}
}

// Without colors there is none; names from a trace reach the terminal without what could command it.
func TestColorsAndHostileNames(t *testing.T) {
	tl := traces.Read(t, traces.Gap)
	if plain := tui.New(tl, false).View(); regexp.MustCompile("\x1b\\[3[0-9]m").MatchString(plain) || looks.ReplaceAllString(plain, "") != press(tui.New(tl, true)) {
		t.Errorf("without colors the screen is\n%q", plain)
	}
	const evil = "pods default/\x1b]0;evil\x07\u202e"
	steps := []sim.TraceStep{{Step: 1, Actor: "script", Kind: "x", Records: []sim.TraceRecord{{Kind: "commit", Actor: "cluster\x1b[2J", Key: evil, RV: 1, Detail: "ADDED\x1b[1m"}}}}
	bad, err := timeline.Of(sim.Header{Scenario: "s\x1b[2J"}, steps, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := tui.New(bad, false)
	for _, k := range []tui.Key{"", "/", "\u202e", tui.Enter} {
		if screen := press(m, k); strings.ContainsAny(screen, "\x1b\x07\u202e") {
			t.Errorf("after %q: %q", k, screen)
		}
	}
	none, err := timeline.Of(sim.Header{}, nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	empty := tui.New(none, true)
	if screen := press(empty, tui.Down, tui.Up, tui.Home, tui.End, "v", "f", "/", "a", tui.Enter); !strings.Contains(screen, "The trace has no steps.") {
		t.Errorf("without steps the screen is\n%s", screen)
	}
}
