package main

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
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

// The table of seeds.md is what the numbers of runs in mutants.md add up to.
func TestSeedsPage(t *testing.T) {
	var runs []int
	for line := range strings.Lines(page(t, "mutants.md")) {
		cells := strings.Split(line, "|")
		if len(cells) < 6 || !strings.HasPrefix(line, "| `") {
			continue
		}
		if n, err := strconv.Atoi(strings.TrimSpace(cells[4])); err == nil {
			runs = append(runs, n)
		}
	}
	if len(runs) < 100 {
		t.Fatalf("mutants.md has only %d that were killed", len(runs))
	}
	table := "| runs | defects found | of those found |\n|---|---|---|\n"
	for _, within := range []int{1, 2, 5, 10, 20, 50, 100, 200, 500} {
		found := 0
		for _, n := range runs {
			if n <= within {
				found++
			}
		}
		table += fmt.Sprintf("| %d | %d | %.0f %% |\n", within, found, 100*float64(found)/float64(len(runs)))
	}
	t.Logf("\n%s", table)
	if !strings.Contains(page(t, "seeds.md"), table) {
		t.Errorf("seeds.md lacks this table:\n%s", table)
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
