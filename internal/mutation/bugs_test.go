package mutation_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/internal/mutation"
)

var (
	bugItem   = regexp.MustCompile(`(?m)^- (?:<a id="\w+"></a>)+\*\*(\w+(?:, \w+)*)\*\*`)
	reasonRow = regexp.MustCompile(`(?m)^\| ((?:k|e|cr|cg)\d+(?:, \w+)*) \| (.*) \|$`)
)

// Each historical bug has a mutant that puts it back, or a reason why there is none.
func TestBugsAreMutants(t *testing.T) {
	root := filepath.Join("..", "..")
	read := func(name ...string) string {
		text, err := os.ReadFile(filepath.Join(append([]string{root}, name...)...))
		if err != nil {
			t.Fatal(err)
		}
		return string(text)
	}
	mutants, err := mutation.Load(os.DirFS(filepath.Join(root, "properties", "mutants")))
	if err != nil {
		t.Fatal(err)
	}
	reasons := map[string]string{}
	for _, m := range reasonRow.FindAllStringSubmatch(read("docs", "mutants.md"), -1) {
		reasons[m[1]] = m[2]
	}
	bugs := bugItem.FindAllStringSubmatch(read("docs", "spec", "bugs.md"), -1)
	if len(bugs) < 40 {
		t.Fatalf("bugs.md has only %d bugs", len(bugs))
	}
	for _, b := range bugs {
		ids := strings.Split(b[1], ", ")
		isMutant := slices.ContainsFunc(mutants, func(m *mutation.Mutant) bool { return slices.Contains(ids, m.Bug) })
		switch reason := reasons[b[1]]; {
		case isMutant && reason != "":
			t.Errorf("%s has a mutant: delete its row in docs/mutants.md", b[1])
		case !isMutant && reason == "":
			t.Errorf("%s has neither a mutant with \"bug: %s\" nor a row in docs/mutants.md that says why", b[1], ids[0])
		}
		delete(reasons, b[1])
	}
	for ids := range reasons {
		t.Errorf("docs/mutants.md says why %s is no mutant, but bugs.md has no such bug", ids)
	}
}
