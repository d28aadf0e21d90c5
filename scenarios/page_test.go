package scenarios_test

import (
	"context"
	"fmt"
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects/kinds"
)

func page(t *testing.T, name string) string {
	t.Helper()
	text, err := os.ReadFile("../docs/" + name)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Each block of the page about the language is a scenario that passes, on both subjects, and together they have every command.
func TestPageOfScenarios(t *testing.T) {
	text := page(t, "scenarios.md")
	used := map[string]bool{}
	for i, block := range regexp.MustCompile("(?s)```sim\n(.*?)```").FindAllStringSubmatch(text, -1) {
		s, err := scenarios.Parse(fmt.Sprintf("block%d.sim", i+1), []byte(block[1]))
		if err != nil {
			t.Fatal(err)
		}
		for _, c := range s.File().Commands() {
			used[c.Name] = true
		}
		for _, kind := range kinds.All() {
			o := withProperties(1)
			o.Subject = kind
			res, err := scenarios.Run(context.Background(), s, o)
			if err != nil {
				t.Fatal(err)
			}
			if !res.Passed() {
				t.Errorf("%s", textOf(res, s.Name+" on "+kind.Name))
			}
		}
	}
	for _, c := range scenarios.Commands() {
		if !used[c.Name] {
			t.Errorf("no block of docs/scenarios.md has the command %s", c.Name)
		}
	}
}

// The catalogue of faults has a row for each kind, with what help says of it, and no other.
func TestPageOfFaults(t *testing.T) {
	rows := map[string]string{}
	for _, m := range regexp.MustCompile("(?m)^\\| `([a-z0-9-]+)` \\| (.*?) \\| (.*?) \\|$").FindAllStringSubmatch(page(t, "faults.md"), -1) {
		if rows[m[1]] = m[2]; strings.TrimSpace(m[3]) == "" {
			t.Errorf("docs/faults.md does not say what %s stands for", m[1])
		}
	}
	for _, k := range fault.Kinds() {
		if want := fault.Describe(k); rows[string(k)] != want {
			t.Errorf("docs/faults.md says of %s: %q, want %q", k, rows[string(k)], want)
		}
		delete(rows, string(k))
	}
	for k := range rows { // order: each is an error of its own
		t.Errorf("docs/faults.md has %s, which is no fault", k)
	}
}
