package world

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// A log ends in what was logged last, not in the last lines of that: the stack of a panic is long, and its reason is the first line.
func TestLastLogged(t *testing.T) {
	var log strings.Builder
	for n := range shownLog + 3 {
		fmt.Fprintf(&log, "step %-5d %9s  I x.go:1] line %d\n", n, "0s", n)
	}
	log.WriteString("step 20           1s  E x.go:1] Observed a panic: oops\n" + strings.Repeat("x.f(...)\n\tx.go:2\n", 50))
	last := lastLogged(log.String())
	if len(last) != shownLog || last[0] != "step 4            0s  I x.go:1] line 4" {
		t.Errorf("%d are shown, from %q on", len(last), last[0])
	}
	lines := strings.Split(last[shownLog-1], "\n")
	if len(lines) != maxLogLines+1 || !strings.HasSuffix(lines[0], "Observed a panic: oops") || lines[maxLogLines] != "…" {
		t.Errorf("the panic is shown as %q", lines)
	}
	if got := lastLogged("x.f(...)\n\tx.go:2\n"); !slices.Equal(got, []string{"x.f(...)\n\tx.go:2"}) {
		t.Errorf("the end of something longer is shown as %q", got)
	}
}
