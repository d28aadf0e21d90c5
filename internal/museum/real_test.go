package museum

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// Every exhibit says which release shows its bug, or why none does, and the page has the rows as they are. That the verdicts are right is
// for `informersim museum --real`, which builds the releases.
func TestReals(t *testing.T) {
	pieces := collection(t)
	rows, err := RealRows(pieces)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range Reals() {
		if !slices.ContainsFunc(rows, func(row RealRow) bool { return row.Bug == r.Bug }) {
			t.Errorf("%s is no exhibit", r.Bug)
		}
	}
	const again = "write the page anew: informersim museum --real --write docs/museum-releases.md"
	text, err := os.ReadFile(filepath.Join(root, "docs", "museum-releases.md"))
	if err != nil {
		t.Fatalf("%v: %s", err, again)
	}
	page := string(text)
	shown := 0
	for n := range rows {
		r := &rows[n]
		if r.Broken == "" {
			continue
		}
		shown++
		line := page[strings.Index(page, r.pageRow())+1:]
		line, _, _ = strings.Cut(line, "\n")
		if !strings.Contains(page, r.pageRow()+" step ") || r.Right != "" && !strings.Contains(line, "| "+r.Right+" | passes, ") || r.Right == "" && !strings.HasSuffix(line, "| none | "+r.Why+" |") {
			t.Errorf("docs/museum-releases.md lacks the row of %s: %s", r.Bug, again)
		}
	}
	if shown < 5 || !strings.HasPrefix(page, realWritten) || !strings.HasSuffix(page, realGaps(rows)) {
		t.Errorf("docs/museum-releases.md is stale: %s", again)
	}
}

func TestRealRowsRefuse(t *testing.T) {
	pieces := collection(t)
	for _, c := range []struct {
		real Real
		want string
	}{
		{Real{Bug: "k115658"}, "either both releases, or why one is missing"},
		{Real{Bug: "k115658", Broken: "v0.23.17", Right: "v0.24.17", Why: "?"}, "either both releases, or why one is missing"},
		{Real{Bug: "k115658", Broken: "v0.23.17", Right: "v0.23.17"}, "v0.23.17 does not come after v0.23.17"},
		{Real{Bug: "k115658", Right: "v0.24.17", Why: "?"}, "no release is broken"},
		{Real{Bug: "k115658", Broken: "v0.5.0", Why: "?"}, "is not one of those that a guest can be built with"},
		{Real{Bug: "k1", Why: "?"}, "k115658 is about client-go: internal/museum/real.go has to say which release shows it"},
	} {
		reals := append(slices.DeleteFunc(Reals(), func(r Real) bool { return r.Bug == "k115658" }), c.real)
		if _, err := realRows(pieces, reals); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v, want %q", c.real, err, c.want)
		}
	}
}

// A row is right only if the property breaks in the one release, and the other passes.
func TestJudgeOfReleases(t *testing.T) {
	for _, c := range []struct{ broken, right, want string }{
		{"WorkDrains", "pass", ""},
		{"pass", "pass", "WorkDrains should break in v1: pass"},
		{"lacks", "pass", "WorkDrains should break in v1: lacks"},
		{"WorkDrains", "NoPanic", "v2 should be right: NoPanic"},
		{"WorkDrains", "mismatch", "v2 should be right: mismatch"},
	} {
		s := Shown{Bug: "k1", Property: "WorkDrains", Broken: &Played{Release: "v1", Verdict: c.broken}, Right: &Played{Release: "v2", Verdict: c.right, Step: 7}}
		if s.Judge(); !strings.Contains(s.Problem, c.want) || (s.Problem == "") != (c.want == "") {
			t.Errorf("%s and %s: %q, want %q", c.broken, c.right, s.Problem, c.want)
		}
		var b strings.Builder
		if err := s.WriteText(&b); err != nil || !strings.HasPrefix(b.String(), "k1       v1        ") || (c.want != "") != strings.Contains(b.String(), "NOT RIGHT: ") {
			t.Errorf("%s and %s: %q, %v", c.broken, c.right, b.String(), err)
		}
	}
}
