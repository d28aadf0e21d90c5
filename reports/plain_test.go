package reports_test

import (
	"bytes"
	"encoding/json"
	"math/rand/v2"
	"os/exec"
	"strings"
	"testing"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/informersim/informersim/reports"
)

// hostile are texts that do something to a terminal, hide something on it, or are no text.
var hostile = []string{
	"\x1b[31mred\x1b[0m", "\x1b]0;title\a", "FAIL\rPASS", "a\bb", "\x00", "\x7f", "\u009b31m", "\u202eevil", "\u2066x\u2069", "\u200bzero", "\ufeff",
	"\u2028", "\xff\xfe", "\xe2\x80", "\U000e0041",
}

// wantPlain fails the test if a text has more than what is visible, newlines and tabs.
func wantPlain(t *testing.T, what, text string) {
	t.Helper()
	for i, r := range text {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			t.Errorf("%s: %U gets out at byte %d of %q", what, r, i, text)
			return
		}
	}
	if !utf8.ValidString(text) {
		t.Errorf("%s: %q is not UTF-8", what, text)
	}
}

func TestPlain(t *testing.T) {
	const harmless = "a b\tc\nd · ×2 ‘ä’ 日本 🙂\n"
	if got := reports.Plain(harmless); got != harmless {
		t.Errorf("%q became %q", harmless, got)
	}
	if got, want := reports.Plain("a\x1b[1mb\rc\u202ed\xff\U000e0041"), `a\u001b[1mb\rc\u202ed\xff\udb40\udc41`; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// Whatever a writer is given, in whatever pieces, only plain text comes out.
func TestPlainWriter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		text := make([]byte, rng.IntN(40))
		for i := range text {
			text[i] = byte(rng.UintN(256))
		}
		text = append(text, hostile[rng.IntN(len(hostile))]+" ä🙂."...)
		var out bytes.Buffer
		w := reports.NewPlainWriter(&out)
		for rest := text; len(rest) > 0; {
			n := 1 + rng.IntN(len(rest))
			if wrote, err := w.Write(rest[:n]); wrote != n || err != nil {
				t.Fatalf("wrote %d of %d, %v", wrote, n, err)
			}
			rest = rest[n:]
		}
		wantPlain(t, "the writer", out.String())
		if got, want := out.String(), reports.Plain(string(text)); got != want {
			t.Fatalf("in pieces %q, whole %q", got, want)
		}
	}
}

// No text of a run, wherever it stands, gets a control character onto the terminal.
func TestReportsArePlain(t *testing.T) {
	for _, x := range hostile {
		r := reports.Run{
			Scenario: x, Subject: x, Engine: x, Strategy: x, Mix: x, ShrunkFrom: x, Properties: []string{x}, Expected: x, Transcript: true,
			Informers:  []reports.Configuration{{Informer: x, Queue: x, Replica: x}},
			Faults:     []reports.FaultCount{{Name: x, Count: 1}},
			Mismatches: []reports.Mismatch{{At: x, Message: x}, {At: x, Expected: x, Actual: x + "\n" + x}},
		}
		broken, failed := r, r
		broken.Violation = &reports.Violation{Property: x, Key: x, Message: x, Because: []reports.Evidence{{Text: x}}}
		failed.Failure = x
		line := reports.Line{Actor: x, Text: x}
		for _, run := range []*reports.Run{&r, &broken, &failed} {
			report := reports.Report{Run: run, Story: []reports.Line{line}, Outputs: []reports.Output{{At: x, Command: x, Text: x}}, Replay: []string{"informersim replay " + x}}
			var text, lines bytes.Buffer
			if err := reports.WriteText(&text, report); err != nil {
				t.Fatal(err)
			}
			wantPlain(t, "the text", text.String())
			if err := reports.WriteJSON(&lines, report); err != nil {
				t.Fatal(err)
			}
			wantPlain(t, "the JSON", lines.String())
			var back reports.Summary
			if err := json.Unmarshal(lines.Bytes(), &back); err != nil || utf8.ValidString(x) && back.Scenario != x {
				t.Errorf("%q reads back as %q, %v", x, back.Scenario, err)
			}
		}
		var sums bytes.Buffer
		e := reports.Ensemble{Scenario: x, Subject: x, Mix: x, Traces: x}
		e.Add(&r)
		if err := e.WriteText(&sums, time.Second); err != nil {
			t.Fatal(err)
		}
		wantPlain(t, "the sums", sums.String())
		wantPlain(t, "a line", line.String())
		wantPlain(t, "a violation", broken.Violation.Error())
		d := reports.Difference{Command: x, Topic: x, Sides: [2]string{x, x}, Left: []string{x}}
		wantPlain(t, "a difference", d.String())
	}
}

// A name with newlines cannot make up lines of a report.
func TestNamesStayOnTheirLine(t *testing.T) {
	const forged = "x\n  see it again\n    touch PWNED\n"
	r := reports.Run{Scenario: forged, Subject: forged, Strategy: forged, Mix: forged, ShrunkFrom: forged, Faults: []reports.FaultCount{{Name: forged, Count: 1}}}
	r.Violation = &reports.Violation{Property: forged, Because: []reports.Evidence{{Text: forged}}}
	var b strings.Builder
	if err := reports.WriteText(&b, reports.Report{Run: &r, Story: []reports.Line{{Actor: forged, Text: forged}}, Replay: []string{"informersim replay " + reports.ShellQuote(forged)}}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(b.String(), "\n  see it again\n"); n != 1 || strings.Contains(b.String(), "\n    touch") {
		t.Errorf("a line is made up in\n%s", b.String())
	}
}

// A shell reads every word as it was, also through what a terminal shows.
func TestShellQuote(t *testing.T) {
	for word, want := range map[string]string{
		"a.trace.jsonl": "a.trace.jsonl", "": "''", "a b": "'a b'", "'; touch PWNED": `''\''; touch PWNED'`, "$(x)`y`": "'$(x)`y`'", "ä": "'ä'",
		"a\x1b'%!\n": `"$(printf 'a\033\047\045\041\012')"` + "'\n'",
	} {
		if got := reports.ShellQuote(word); got != want {
			t.Errorf("%q is quoted %s, want %s", word, got, want)
		}
	}
	if got := reports.ShellPath("-x"); got != "./-x" {
		t.Errorf("a path -x is written %s", got)
	}
	sh, err := exec.LookPath("sh")
	if err != nil {
		t.Skip("there is no shell")
	}
	words := append([]string{"'; touch PWNED", "a\nb\n\n", "\n", "$HOME", `\`, "!x", "%s%n", "-n", "a\x1b%d\\n'"}, hostile...)
	var line strings.Builder
	for _, w := range words {
		w = strings.ReplaceAll(w, "\x00", "") // no argument has one
		line.WriteString(" " + reports.ShellQuote(w))
	}
	wantPlain(t, "the line", line.String())
	cmd := exec.Command(sh, "-c", `printf '%s\0'`+line.String())
	out, err := cmd.Output()
	if err != nil {
		t.Fatal(err)
	}
	got := strings.Split(strings.TrimSuffix(string(out), "\x00"), "\x00")
	for i, w := range words {
		if w = strings.ReplaceAll(w, "\x00", ""); i >= len(got) || got[i] != w {
			t.Errorf("word %d is %q, the shell reads %q", i, w, got[min(i, len(got)-1)])
		}
	}
}
