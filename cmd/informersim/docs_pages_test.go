package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// page returns a page of docs.
func page(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(docs + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// mutantRow is a row of the table of mutants.md.
type mutantRow struct {
	property        string // the first that killed it
	runs            int
	commands, picks int // of the smallest run; commands is -1 if it has no size
}

// mutantRows reads the table of mutants.md; those that nothing killed have no row.
func mutantRows(t *testing.T) []mutantRow {
	t.Helper()
	var rows []mutantRow
	for line := range strings.Lines(page(t, "mutants.md")) {
		cells := strings.Split(line, "|")
		if len(cells) < 7 || !strings.HasPrefix(line, "| `") {
			continue
		}
		runs, err := strconv.Atoi(strings.TrimSpace(cells[4]))
		if err != nil {
			continue
		}
		property, _, _ := strings.Cut(strings.TrimSpace(cells[3]), ",")
		row := mutantRow{property: property, runs: runs, commands: -1}
		commands, picks, _ := strings.Cut(cells[5], ",")
		fmt.Sscanf(strings.TrimSpace(commands), "%d command", &row.commands)
		fmt.Sscanf(strings.TrimSpace(picks), "%d pick", &row.picks)
		rows = append(rows, row)
	}
	if len(rows) < 100 {
		t.Fatalf("mutants.md has only %d that were killed", len(rows))
	}
	return rows
}

// The table of seeds.md is what the numbers of runs in mutants.md add up to.
func TestSeedsPage(t *testing.T) {
	rows := slices.DeleteFunc(mutantRows(t), func(r mutantRow) bool { return r.property == "WritesAgree" }) // by rounds of requests, not by runs
	table := "| runs | defects found | of those found |\n|---|---|---|\n"
	for _, within := range []int{1, 2, 5, 10, 20, 50, 100, 200, 500} {
		found := 0
		for _, r := range rows {
			if r.runs <= within {
				found++
			}
		}
		table += fmt.Sprintf("| %d | %d | %.0f %% |\n", within, found, 100*float64(found)/float64(len(rows)))
	}
	says(t, "seeds.md", table)
	says(t, "seeds.md", fmt.Sprintf("puts %d defects into", len(rows)))
}

// What mutants.md says of its table is what the rows add up to.
func TestMutantsPage(t *testing.T) {
	rows := mutantRows(t)
	agree, short := 0, 0
	var sizes []int
	for _, r := range rows {
		switch {
		case r.property == "LibraryAgrees", r.property == "ServerAgrees":
			agree++
		case r.commands >= 0:
			sizes = append(sizes, r.commands)
			if r.commands <= 12 || r.picks <= 30 {
				short++
			}
		}
	}
	slices.Sort(sizes)
	says(t, "mutants.md", fmt.Sprintf("%d of %[1]d mutants killed", len(rows)))
	says(t, "mutants.md", fmt.Sprintf("%d mutants. The other %d that have a size in the table have\n%d commands in the median and %d in nine of ten; %d have 12 commands or 30 picks at most.",
		agree, len(sizes), sizes[len(sizes)/2], sizes[len(sizes)*9/10], short))
}

// says reports that a page of docs lacks a text.
func says(t *testing.T, name, text string) {
	t.Helper()
	t.Logf("\n%s", text)
	if !strings.Contains(page(t, name), text) {
		t.Errorf("%s lacks:\n%s", name, text)
	}
}

// Go blocks of properties.md are in tests, which compile and run them.
func TestPropertiesPage(t *testing.T) {
	var tested strings.Builder
	for _, pattern := range []string{"../../simtest/example*_test.go", "../../scenarios/property_test.go"} {
		files, err := filepath.Glob(pattern)
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			tested.Write(data)
		}
	}
	blocks := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(page(t, "properties.md"), -1)
	if len(blocks) < 4 {
		t.Errorf("there are %d blocks", len(blocks))
	}
	for _, b := range blocks {
		if !strings.Contains(tested.String(), b[1]) {
			t.Errorf("no test has this block of properties.md:\n%s", b[1])
		}
	}
}
