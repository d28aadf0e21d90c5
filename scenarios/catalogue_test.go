package scenarios_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/script"
)

func loadAll(t *testing.T) []*scenarios.Scenario {
	t.Helper()
	all := []*scenarios.Scenario{scenarios.BuiltIn()}
	for _, path := range catalogue() {
		s, err := scenarios.Load(path)
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, s)
	}
	return all
}

// The catalogue has each fault at least once, and each script begins with what it is about and has expectations.
func TestCatalogueIsComplete(t *testing.T) {
	used := map[string]bool{}
	for _, s := range loadAll(t) {
		for _, f := range s.Faults() {
			used[f] = true
		}
		text := s.Text()
		if !strings.HasPrefix(text, "# ") {
			t.Errorf("%s does not begin with prose that says what it is about", s.Name)
		}
		if !strings.Contains(text, "\nexpect ") && !strings.Contains(text, "\n----\n") {
			t.Errorf("%s expects nothing", s.Name)
		}
	}
	for _, k := range fault.Kinds() {
		if !used[string(k)] {
			t.Errorf("no scenario has the fault %s", k)
		}
	}
}

// Printing a scenario and parsing it gives the same one.
func TestTextRoundTrip(t *testing.T) {
	for _, s := range loadAll(t) {
		again, err := scenarios.Parse(s.Name+".sim", []byte(s.Text()))
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if !script.Equal(s.File(), again.File()) || again.Text() != s.Text() || again.Name != s.Name {
			t.Errorf("%s: printed and parsed it is\n%s", s.Name, again.Text())
		}
	}
}

// The scripts are in the form in which they are printed, so that a rewritten one differs in its outputs only.
func TestCatalogueIsFormatted(t *testing.T) {
	for _, path := range catalogue() {
		src, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		f, err := script.Parse(path, src)
		if err != nil {
			t.Fatal(err)
		}
		if want := string(script.Print(f)); string(src) != want {
			t.Errorf("%s is not as it is printed:\n%s", path, want)
		}
	}
}

// world declares what the examples of commands talk about.
var world = []string{
	"cluster replicas=2", "resource pods", "writer w1", "informer i1 pods handlers=h1", "handler i1 h2", "worker c1 i1",
}

// around are the declarations for an example of a command: all but those of its own sort and what hangs on them.
func around(name string) string {
	for i, line := range world {
		if strings.HasPrefix(line, name+" ") {
			return strings.Join(world[:i], "\n") + "\n"
		}
	}
	return strings.Join(world, "\n") + "\n"
}

// Every command has an example in the comment on it, and every example is a command that is understood.
func TestCommandExamples(t *testing.T) {
	examples := commandExamples(t)
	for _, c := range scenarios.Commands() {
		if !strings.HasPrefix(c.Usage, c.Name) || c.Doc == "" {
			t.Errorf("%s: usage %q, doc %q", c.Name, c.Usage, c.Doc)
		}
		if len(examples[c.Name]) == 0 {
			t.Errorf("the command %s has no example", c.Name)
		}
		for _, e := range examples[c.Name] {
			if _, err := scenarios.Parse(c.Name, []byte(around(c.Name)+e)); err != nil {
				t.Errorf("the example of %s: %v\n%s", c.Name, err, e)
			}
		}
	}
}

// commandExamples are the indented lines of the comments in cmd_*.go, by the command that each starts with.
func commandExamples(t *testing.T) map[string][]string {
	t.Helper()
	paths, err := filepath.Glob("cmd_*.go")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no cmd_*.go: %v", err)
	}
	examples := map[string][]string{}
	for _, path := range paths {
		f, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		for _, d := range f.Decls {
			g, ok := d.(*ast.GenDecl)
			if !ok || g.Doc == nil {
				continue
			}
			var lines []string
			for line := range strings.SplitSeq(g.Doc.Text(), "\n") {
				if rest, indented := strings.CutPrefix(line, "\t"); indented {
					lines = append(lines, rest)
				}
			}
			for i, line := range lines {
				name, _, _ := strings.Cut(line, " ")
				if slices.ContainsFunc(scenarios.Commands(), func(c scenarios.CommandHelp) bool { return c.Name == name }) {
					if i+1 < len(lines) && lines[i+1] == "----" {
						line = strings.Join(lines[i:], "\n") // with the output that it expects
					}
					examples[name] = append(examples[name], line)
				}
			}
		}
	}
	return examples
}
