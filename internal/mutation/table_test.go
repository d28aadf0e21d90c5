package mutation_test

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/internal/mutation"
	"github.com/informersim/informersim/scenarios/minimal"
)

// ranges returns one range for each number of runs, 0 for one in which nothing was found.
func ranges(property string, runs ...uint64) []mutation.Range {
	var all []mutation.Range
	for _, n := range runs {
		r := mutation.Range{Runs: n, Found: &mutation.Found{Property: property, Seconds: float64(n) / 10}}
		if n == 0 {
			r = mutation.Range{Runs: 2000}
		}
		all = append(all, r)
	}
	return all
}

func TestResults(t *testing.T) {
	for _, c := range []struct {
		what           string
		result         mutation.Result
		killed, failed bool
		verdict        string
	}{
		{"killed", mutation.Result{Ranges: ranges("NoPanic", 5, 1, 9)}, true, false, "NoPanic"},
		{"killed in most ranges", mutation.Result{Ranges: ranges("NoPanic", 5, 0, 9)}, true, false, "NoPanic"},
		{"killed in few ranges", mutation.Result{Ranges: ranges("NoPanic", 0, 0, 9)}, false, true, "SURVIVES"},
		{"survives", mutation.Result{Ranges: ranges("NoPanic", 0, 0, 0)}, false, true, "SURVIVES"},
		{"survives, as known", mutation.Result{Survives: "why", Ranges: ranges("NoPanic", 0, 0, 0)}, false, false, "survives, as known"},
		{"does not survive", mutation.Result{Survives: "why", Ranges: ranges("NoPanic", 1, 2, 3)}, true, true, "KILLED, although its file says that it survives"},
		{"stale", mutation.Result{Error: "it is stale"}, false, true, "NOT TRIED"},
	} {
		r := &c.result
		if r.Killed() != c.killed || r.Failed() != c.failed || r.Verdict() != c.verdict {
			t.Errorf("%s: killed %v, failed %v, %q; want %v, %v, %q", c.what, r.Killed(), r.Failed(), r.Verdict(), c.killed, c.failed, c.verdict)
		}
	}
	r := &mutation.Result{Ranges: ranges("NoPanic", 5, 0, 9, 0, 7)}
	if m := r.Median(); m.Runs != 9 {
		t.Errorf("the median is %d runs, want 9: ranges in which nothing was found count as the longest", m.Runs)
	}
}

func TestSummaryAndPage(t *testing.T) {
	killed := &mutation.Result{Mutant: "a", Defect: "a | b", Breaks: []string{"NoPanic"}, Ranges: ranges("NoPanic", 3)}
	killed.Ranges[0].Found.Shrunk = &mutation.Shrunk{After: minimal.Size{Commands: 4}, Picks: 7}
	results := []*mutation.Result{
		killed,
		{Mutant: "b", Breaks: []string{"NoPanic"}, Ranges: ranges("NoPanic", 40)},
		{Mutant: "c", Breaks: []string{"NoPanic"}, Ranges: ranges("IndexerConverges", 500)},
		{Mutant: "d", Survives: "nothing looks at it", Ranges: ranges("", 0)},
		{Mutant: "g", Survives: "nothing looks at it", Ranges: ranges("", 0)},
		{Mutant: "h", Survives: "it is killed now", Ranges: ranges("NoPanic", 2)},
		{Mutant: "f", Defect: "it is quiet", Ranges: ranges("", 0)},
		{Mutant: "e", Error: "it is stale"},
	}
	const summary = "4 of 8 mutants killed, after 3 runs in the median, 500 for 95 % of them, shrunk to 4 commands in the median; known to survive: 2"
	if got := mutation.Summarize(results); got.String() != summary || got.Failed != 3 {
		t.Errorf("%d failed, %s\nwant 3 and %s", got.Failed, got, summary)
	}
	page := "# Mutants\n\n" + "<!-- The table: informersim mutants --update. -->\nold\n<!-- End of the table. -->\n\nThe end.\n"
	var all []string
	for _, r := range results {
		all = append(all, r.Mutant)
	}
	search := mutation.Search{Ranges: 5, Runs: 2000}
	got, err := mutation.UpdatePage(page, search, all, results)
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"# Mutants\n", "5 ranges of seeds, up to 2000 runs in each: " + summary + ".\n", "| `a` | a \\| b | NoPanic | 3 | 4 commands, 7 picks |\n",
		"| `c` |  | IndexerConverges: its file expects NoPanic | 500 |  |\n", "* Known to survive: `d`, `g`: nothing looks at it\n* Nothing has killed these, and something should: `f`\n\n| mutant |", "it is stale", "| `f` | it is quiet | SURVIVES |  |  |\n", "\n\nThe end.\n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("the page lacks %q:\n%s", want, got)
		}
	}
	if strings.Contains(got, "Known to survive: `h`") {
		t.Errorf("a mutant that is killed counts as a survivor:\n%s", got)
	}
	if strings.Contains(got, "old") {
		t.Errorf("the old table is still there:\n%s", got)
	}
	if _, err := mutation.UpdatePage("# Mutants\n", mutation.Search{}, all, results); err == nil {
		t.Error("a page without the marks is updated")
	}

	// Some of the rows: the others, and what is made of all of them, stay what they were.
	if same, err := mutation.UpdatePage(got, search, all, results[2:4]); err != nil || same != got {
		t.Errorf("the same results give another page, %v:\n%s", err, same)
	}
	found := &mutation.Result{Mutant: "f", Defect: "it is quiet", Breaks: []string{"NoPanic"}, Ranges: ranges("NoPanic", 7)}
	part, err := mutation.UpdatePage(got, search, all, []*mutation.Result{found})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{": 5 of 8 mutants killed, after 7 runs", "| `f` | it is quiet | NoPanic | 7 |  |\n", "| `a` | a \\| b | NoPanic | 3 | 4 commands, 7 picks |\n", "Known to survive: `d`, `g`"} {
		if !strings.Contains(part, want) {
			t.Errorf("the page lacks %q:\n%s", want, part)
		}
	}
	if strings.Contains(part, "Nothing has killed these") {
		t.Errorf("what is killed is still a survivor:\n%s", part)
	}
	if _, err := mutation.UpdatePage(got, mutation.Search{Ranges: 5, Runs: 300}, all, results[:1]); err == nil || !strings.Contains(err.Error(), "up to 2000 runs") {
		t.Errorf("rows of another search are put into the table: %v", err)
	}
	if _, err := mutation.UpdatePage(got, search, append(all, "new"), results[:1]); err == nil || !strings.Contains(err.Error(), "no row for new") {
		t.Errorf("a table without a row for each mutant is written: %v", err)
	}
}
