package main

import (
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/reports/tui"
)

const gapTrace = "../../reports/timeline/testdata/gap.trace.jsonl"

// Keys arrive as characters and sequences, several at once, and with what this program does not know between them.
func TestKeysIn(t *testing.T) {
	for _, test := range []struct {
		text string
		want []tui.Key
	}{
		{"jé", []tui.Key{"j", "é"}},
		{"\x1b[A\x1b[B\x1bOC\x1b[5~\x1b[6~\x1b[H\x1b[4~", []tui.Key{tui.Up, tui.Down, tui.Right, tui.PageUp, tui.PageDown, tui.Home, tui.End}},
		{"\x1b", []tui.Key{tui.Escape}},
		{"\x1bq", []tui.Key{tui.Escape, "q"}},
		{"a\r\x7f\b\x03", []tui.Key{"a", tui.Enter, tui.Backspace, tui.Backspace, tui.Interrupt}},
		{"\x1b[200~x\x1b[1;5A\x00\xffy\x1b[", []tui.Key{"x", "y"}},
	} {
		if got := keysIn(test.text); !slices.Equal(got, test.want) {
			t.Errorf("%q is %q, want %q", test.text, got, test.want)
		}
	}
}

// Without a terminal, tui says what to use.
func TestTUIWithoutATerminal(t *testing.T) {
	got := command(t, "tui", gapTrace)
	if got.code != exitBadInput || !strings.Contains(got.stderr, "tui needs a terminal") || !strings.Contains(got.stderr, "informersim explain "+gapTrace) || got.stdout != "" {
		t.Errorf("exit code %d, %q, %q", got.code, got.stdout, got.stderr)
	}
}
