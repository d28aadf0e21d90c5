package terminal_test

import (
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/internal/traces"
	"github.com/informersim/informersim/reports/terminal"
)

// wantGolden also checks that a text fits.
func wantGolden(t *testing.T, file, got string) {
	t.Helper()
	traces.Golden(t, file, got)
	for line := range strings.Lines(got) {
		if n := utf8.RuneCountInString(strings.TrimSuffix(line, "\n")); n > terminal.Width {
			t.Errorf("%s: a line has %d columns: %s", file, n, line)
		}
	}
}

func TestExplain(t *testing.T) {
	tl := traces.Read(t, traces.Gap)
	wantGolden(t, "testdata/explain.golden", terminal.Explain(tl, nil))
	other := terminal.Explain(tl, tl.Object("default/a"))
	if !strings.Contains(other, "the way of pods default/a, ADDED at rv=1\n") || !strings.Contains(other, "i1/h1 is told") {
		t.Errorf("of another object:\n%s", other)
	}
}

func TestExplainTellsTheTwin(t *testing.T) {
	tl := traces.Read(t, traces.Gap)
	tl.Conclusion.Twin = &reports.Twin{Version: 1, Tried: 1, Change: "the fault does not happen", Partings: []reports.Parting{{
		Here: []reports.Line{{Step: 17, Text: "the fault watch-410 hits conn/i1"}}, There: []reports.Line{{Step: 18, Text: "it goes on"}}}}}
	text := terminal.Explain(tl, nil)
	for _, want := range []string{
		"\n  the nearest run that passes (- this run, + that one)\n    The run passes if the fault does not happen\n",
		"\n    - step 17            0s  the fault watch-410 hits conn/i1\n    + step 18            0s  it goes on\n",
	} {
		if !strings.Contains(text, want) {
			t.Errorf("the explanation lacks %q:\n%s", want, text)
		}
	}
}

func TestState(t *testing.T) {
	tl := traces.Read(t, traces.Gap)
	text, err := terminal.State(tl, 25)
	if err != nil {
		t.Fatal(err)
	}
	wantGolden(t, "testdata/state.golden", text)
	for _, step := range []uint64{0, 26} {
		if text, err := terminal.State(tl, step); err == nil || !strings.Contains(err.Error(), "the trace has steps 1 to 25") {
			t.Errorf("step %d: %v\n%s", step, err, text)
		}
	}
}

// A terminal gets colors and lines that fit; without the colors nothing is lost, and commands stay whole.
func TestPaint(t *testing.T) {
	const text = `FAIL  IndexerConverges at step 928 (25m0s)

  informer i1 still holds default/b rv=2, which the server deleted at rv=5, and nobody has told it so
  because step 16 (0s): default/b became known: ADDED at rv=2, which is something that needs more than a line

  what happened
    step 17           0s  conn/i1      FAULT watch-410
    step 20           0s  conn/i1      12 × watch 2 from rv=1 is refused: 410 Expired: too old (the first; until step 27), never answered by a list

  see it again
    informersim run a-scenario-whose-name-is-long.sim --seed 1 --strategy random --fault-mix storm --subject client-go
`
	got := terminal.Paint(text, 80)
	bare := regexp.MustCompile("\x1b\\[[0-9;]*m").ReplaceAllString(got, "")
	if got == bare {
		t.Error("there are no colors")
	}
	if a, b := strings.Join(strings.Fields(bare), " "), strings.Join(strings.Fields(text), " "); a != b {
		t.Errorf("the words are\n%s\nwant\n%s", a, b)
	}
	for line := range strings.Lines(bare) {
		line = strings.TrimSuffix(line, "\n")
		if n := utf8.RuneCountInString(line); n > 80 && !strings.HasPrefix(line, "    informersim run ") {
			t.Errorf("a line has %d columns: %s", n, line)
		}
	}
	for _, want := range []string{"\x1b[31mFAIL\x1b[0m", "\x1b[31mFAULT watch-410", "\x1b[1m  what happened\x1b[0m\n", "\n  informer i1 still", "\x1b[2mstep 17           0s  conn/i1      \x1b[0m", "\n                          "} {
		if !strings.Contains(got, want) {
			t.Errorf("%q is missing in %q", want, got)
		}
	}
	if got := terminal.Paint("a\n", 3); got != "a\n" {
		t.Errorf("%q", got)
	}
}
