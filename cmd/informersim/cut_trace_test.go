package main

import (
	"os"
	"strings"
	"testing"
)

// A trace that was cut is told from one whose run died: a file that ends within a line was cut, and says nothing of the process; one that
// lacks its end line only may be either.
func TestCutTrace(t *testing.T) {
	inTemp(t, map[string]string{"small.sim": small})
	good := traced(t)
	lines := strings.SplitAfter(good, "\n")
	for _, tt := range []struct {
		name, text string
		want       []string
		not        string
	}{
		{"within a line", good[:strings.Index(good, `{"s":4,`)+9], []string{
			"CUT OFF  The trace ends after step 3, at ", "the file was cut within line", "how its run went on is not known", "Get the whole file", "informersim replay x.jsonl\n",
		}, "killed"},
		{"without its end line", strings.Join(lines[:len(lines)-2], ""), []string{"CUT OFF  The trace ends after step ", "its run was killed, or the file was cut", "informersim replay x.jsonl\n"}, "damaged"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if err := os.WriteFile("x.jsonl", []byte(tt.text), 0o666); err != nil {
				t.Fatal(err)
			}
			got := command(t, "explain", "x.jsonl")
			text := strings.Join(strings.Fields(got.stdout), " ")
			for _, want := range tt.want {
				if got.code != exitOK || !strings.Contains(text+"\n"+got.stdout, strings.Join(strings.Fields(want), " ")) {
					t.Errorf("exit code %d: it does not say %q:\n%s%s", got.code, want, got.stdout, got.stderr)
				}
			}
			if strings.Contains(got.stdout, tt.not) {
				t.Errorf("it says %q:\n%s", tt.not, got.stdout)
			}
			if got := command(t, "shrink", "x.jsonl"); got.code != exitBadInput || strings.Count(got.stderr, "x.jsonl") != 1 {
				t.Errorf("shrink: exit code %d: %s", got.code, got.stderr)
			}
		})
	}
}
