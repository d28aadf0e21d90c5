package museum

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/informersim/informersim/internal/mutation"
	"github.com/informersim/informersim/reports"
)

const root = "../.."

func collection(t *testing.T) []*Piece {
	t.Helper()
	pieces, err := Collection(root)
	if err != nil {
		t.Fatal(err)
	}
	return pieces
}

// Every bug is an exhibit or says why not, and what is named exists. That the verdicts are right is for `informersim museum`, which
// builds programs; .ci/run museum calls it.
func TestCollection(t *testing.T) {
	pieces := collection(t)
	if len(pieces) < 42 {
		t.Errorf("docs/spec/bugs.md has only %d bugs", len(pieces))
	}
	properties, err := os.ReadFile(filepath.Join(root, "docs", "spec", "properties.md"))
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range pieces {
		var files []string
		if p.Gap != nil && p.Gap.See != "" {
			files = append(files, p.Gap.See)
		}
		if e := p.Exhibit; e != nil {
			files = append(files, scenarioFile(e.Scenario), scenarioFile(e.right()))
			if !strings.Contains(string(properties), `<a id="`+e.Property+`">`) {
				t.Errorf("%s: docs/spec/properties.md has no property %s", p.Bug.ID(), e.Property)
			}
			if e.Mutant != "" && !slices.Contains(p.Edits.Breaks, e.Property) {
				t.Errorf("%s: %s does not say that it breaks %s", p.Bug.ID(), e.Mutant, e.Property)
			}
		}
		for _, file := range files {
			if _, err := os.Stat(filepath.Join(root, file)); err != nil {
				t.Errorf("%s: %v", p.Bug.ID(), err)
			}
		}
		if p.Bug.Years == "" || p.Bug.Text == "" || p.Bug.Kind == "" || strings.Contains(p.Bug.Text, "Shown by") {
			t.Errorf("%s is read as %+v", p.Bug.ID(), p.Bug)
		}
	}
}

// The pages are those of the table, of the scenarios and of the mutants as they are. What only the runs can tell, the verdicts, is
// compared by .ci/run museum.
func TestPagesAreCurrent(t *testing.T) {
	const again = "write the pages anew: informersim museum --write docs/museum"
	folder := filepath.Join(root, "docs", "museum")
	index, err := os.ReadFile(filepath.Join(folder, "README.md"))
	if err != nil {
		t.Fatalf("%v: %s", err, again)
	}
	files, err := filepath.Glob(filepath.Join(folder, "*.md"))
	if err != nil {
		t.Fatal(err)
	}
	pieces := collection(t)
	exhibits := 0
	for _, p := range pieces {
		if p.Exhibit == nil {
			continue
		}
		exhibits++
		want, err := p.head(root)
		if err != nil {
			t.Fatal(err)
		}
		page, err := os.ReadFile(filepath.Join(folder, p.Bug.ID()+".md"))
		if err != nil {
			t.Errorf("%v: %s", err, again)
			continue
		}
		head, verdicts, _ := strings.Cut(string(page), verdictsHeading)
		if head != want {
			t.Errorf("docs/museum/%s.md is stale: %s", p.Bug.ID(), again)
		}
		if !strings.Contains(verdicts, "**"+p.Exhibit.Property+"** breaks at step ") || !strings.Contains(verdicts, "Without it, the run passes") {
			t.Errorf("docs/museum/%s.md has the verdicts %q", p.Bug.ID(), verdicts)
		}
		if !strings.Contains(string(index), "\n"+p.indexRow()+" step ") {
			t.Errorf("docs/museum/README.md lacks the row of %s: %s", p.Bug.ID(), again)
		}
	}
	if len(files) != exhibits+1 {
		t.Errorf("docs/museum has %d pages, want %d: %s", len(files), exhibits+1, again)
	}
	if !strings.HasSuffix(string(index), gapTable(pieces)) {
		t.Errorf("docs/museum/README.md does not have the bugs that are no exhibits as they are: %s", again)
	}
}

func TestCollectRefuses(t *testing.T) {
	bugs := []Bug{{IDs: []string{"k1", "k2"}}}
	mutants := []*mutation.Mutant{{Name: "m", Bug: "k2"}, {Name: "other", Bug: "k9"}, {Name: "also", Bug: "k1"}}
	mends := []*mutation.Mutant{{Name: "mend", Bug: "k1", Mends: true}, {Name: "breaks", Bug: "k1"}}
	for _, c := range []struct {
		what     string
		exhibits []Exhibit
		gaps     []Gap
		want     string
	}{
		{"nothing", nil, nil, "k1 needs an exhibit, or a reason"},
		{"both", []Exhibit{{Bug: "k1", Mutant: "m"}}, []Gap{{Bug: "k1"}}, "exactly one"},
		{"two sides that are the same", []Exhibit{{Bug: "k1"}}, nil, "both of its sides are the same"},
		{"no such mutant", []Exhibit{{Bug: "k1", Mutant: "none"}}, nil, "does not have"},
		{"another bug's mutant", []Exhibit{{Bug: "k1", Mutant: "other"}}, nil, `add the line "bug: k1"`},
		{"a mend that breaks", []Exhibit{{Bug: "k1", Mend: "breaks"}}, nil, "is not what the exhibit"},
		{"a bug that is not there", []Exhibit{{Bug: "k1", Mutant: "m"}, {Bug: "k7", Mutant: "m"}}, nil, "has 1 bugs"},
	} {
		if _, err := collect(bugs, mutants, mends, c.exhibits, c.gaps); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want an error with %q", c.what, err, c.want)
		}
	}
	pieces, err := collect(bugs, mutants, mends, []Exhibit{{Bug: "k1", Mutant: "m"}}, nil)
	if err != nil || len(pieces) != 1 || pieces[0].Edits != mutants[0] || strings.Join(pieces[0].Others, " ") != "also" {
		t.Errorf("%v, %v", pieces, err)
	}
	if _, err := Select(pieces, []string{"k3"}); err == nil {
		t.Error("k3 means a piece")
	}
	if some, err := Select(pieces, []string{"k2"}); err != nil || len(some) != 1 {
		t.Errorf("k2 means %v, %v", some, err)
	}
}

// A row is right only if the named property breaks with the bug, and nothing does without it.
func TestProblem(t *testing.T) {
	e := &Exhibit{Property: "WorkDrains"}
	broke := func(property string) *reports.Summary {
		return &reports.Summary{Violation: &reports.Violation{Property: property}}
	}
	passed := &reports.Summary{Passed: true}
	for _, c := range []struct {
		what          string
		broken, right *reports.Summary
		want          string
	}{
		{"right", broke("WorkDrains"), passed, ""},
		{"nothing breaks", passed, passed, "holds with the bug, too"},
		{"only the transcript differs", &reports.Summary{}, passed, "holds with the bug, too"},
		{"something else breaks", broke("NoPanic"), passed, "NoPanic broke with the bug"},
		{"the right side breaks", broke("WorkDrains"), broke("WorkDrains"), "breaks without the bug, too"},
		{"the right transcript differs", broke("WorkDrains"), &reports.Summary{}, "transcript is not as expected"},
	} {
		if got := problem(e, c.broken, c.right); !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: %q, want %q", c.what, got, c.want)
		}
	}
}

func TestWriteText(t *testing.T) {
	var b strings.Builder
	p := &Piece{Exhibit: &Exhibit{Mutant: "m"}, Edits: &mutation.Mutant{Name: "m", Defect: "It forgets."}}
	for _, v := range []*Verdict{
		{Bug: "k1", Years: "2021, 2026", Property: "WorkDrains", Broken: &Side{Where: "client-go", Violation: &reports.Violation{Step: 17}}, Right: &Side{Steps: 23}, Piece: p},
		{Bug: "k2", Years: "2020", Property: "WorkDrains", Problem: "it holds"},
		{Bug: "k3", Years: "2020", Why: strings.Repeat("for this reason ", 12)},
	} {
		if err := v.WriteText(&b); err != nil {
			t.Fatal(err)
		}
	}
	for line := range strings.Lines(b.String()) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > width+2 {
			t.Errorf("%q is too wide", line)
		}
	}
	for _, want := range []string{"k1       2021  WorkDrains             client-go                       17        23\n", "NOT RIGHT: it holds\n", "k3       2020  no exhibit: for"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
}

// Pages go to a folder of pages only.
func TestWritePages(t *testing.T) {
	dir := t.TempDir()
	if err := WritePages(dir, map[string]string{"README.md": written, "k1.md": written}); err != nil {
		t.Fatal(err)
	}
	if err := WritePages(dir, map[string]string{"README.md": written + "new"}); err != nil {
		t.Fatal(err)
	}
	if files, _ := filepath.Glob(filepath.Join(dir, "*")); len(files) != 1 {
		t.Errorf("the folder has %v, want README.md alone", files)
	}
	if err := os.WriteFile(filepath.Join(dir, "mine.md"), []byte("# Mine"), 0o666); err != nil {
		t.Fatal(err)
	}
	if err := WritePages(dir, map[string]string{"README.md": written}); err == nil || !strings.Contains(err.Error(), "mine.md") {
		t.Errorf("%v, want an error that names mine.md", err)
	}
}

func TestParseBugs(t *testing.T) {
	bugs, err := parseBugs("## Lost\n\n- <a id=\"k1\"></a><a id=\"k2\"></a>**k1, k2** (2021; 2026, open) it is lost. **Shown by** `a`.\n- <a id=\"cg3\"></a>**cg3** gone. **Not reproduced yet.**\n")
	if err != nil || len(bugs) != 2 {
		t.Fatalf("%v, %v", bugs, err)
	}
	if b := bugs[0]; strings.Join(b.IDs, " ") != "k1 k2" || b.Years != "2021, 2026" || !b.Open || b.Kind != "Lost" || b.Text != "it is lost." {
		t.Errorf("it is read as %+v", b)
	}
	if b := bugs[1]; b.Text != "gone." || b.Open || Report(b.ID()) != "https://github.com/kubernetes/client-go/issues/3" {
		t.Errorf("it is read as %+v", b)
	}
	if _, err := parseBugs("nothing"); err == nil {
		t.Error("a page without bugs is accepted")
	}
}

// One piece is told in full: what happened, the scenario, both verdicts, where to look.
func TestWriteDetail(t *testing.T) {
	v := &Verdict{
		Text: "it is *lost*", Report: "https://example.com/1", Broken: &Side{Scenario: scenarioFile("k115658"), Violation: &reports.Violation{
			Property: "WorkDrains", Step: 17, Message: strings.Repeat("a key waits ", 12), Because: []reports.Evidence{{Step: 3, Text: "it was added"}},
		}},
		Right: &Side{Scenario: scenarioFile("k115658"), Steps: 23}, Piece: &Piece{Exhibit: &Exhibit{Mutant: "m", Note: "It is rare."}, Edits: &mutation.Mutant{Name: "m", Defect: "It forgets."}},
	}
	var b strings.Builder
	if err := v.WriteDetail(&b, root); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"\nit is lost\n", "\nA key that only the queue knows (k115658).", "with the bug: It forgets. (properties/mutants/m.txtar)\n  WorkDrains is broken at step 17",
		"    step 3 (0s): it was added\n", "without it: passes, in 23 steps\n", "\nIt is rare.\n", "scenario  scenarios/testdata/k115658.sim\n", "report    https://example.com/1\n",
	} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("%q is missing in\n%s", want, b.String())
		}
	}
	for line := range strings.Lines(b.String()) {
		if utf8.RuneCountInString(strings.TrimSuffix(line, "\n")) > width {
			t.Errorf("%q is too wide", line)
		}
	}
}
