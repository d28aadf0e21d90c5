package scenarios_test

import (
	"fmt"
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

// The catalogue has each fault at least once, and each script starts with prose and has expectations.
func TestCatalogueIsComplete(t *testing.T) {
	used := map[string]bool{}
	for _, s := range loadAll(t) {
		for _, f := range s.Faults() {
			used[f] = true
		}
		text := s.Text()
		if !strings.HasPrefix(text, "# ") {
			t.Errorf("%s does not start with prose that says what it shows", s.Name)
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

// Each scenario of the folder is in one theme, and found by what it is about.
func TestCatalogueHasThemes(t *testing.T) {
	entries, err := scenarios.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	count := map[string]int{}
	for _, e := range entries {
		count[e.Name]++
		if e.Theme == "" || e.ThemeText == "" || len(e.Prose) < 40 {
			t.Errorf("%s: theme %q (%s), prose %q", e.Name, e.Theme, e.ThemeText, e.Prose)
		}
		for _, label := range append(e.Labels(), e.Theme, e.Name) {
			if !e.Matches(label) {
				t.Errorf("%s is not found by %q", e.Name, label)
			}
		}
	}
	for _, file := range catalogue() {
		name := strings.TrimSuffix(filepath.Base(file), ".sim")
		if count[name] != 1 {
			t.Errorf("testdata/themes.txt names %s %d times, want once", name, count[name])
		}
		delete(count, name)
	}
	for name := range count { // order: errors of a test
		t.Errorf("testdata/themes.txt names %s, which is not there", name)
	}
}

func TestComponentsAndBugs(t *testing.T) {
	s, err := scenarios.Parse("k115658_b.sim", []byte(`# A relist (k27004, I47) of the 12k pods in k8s.
cluster replicas=2
resource pods
informer i1 pods queue=atomic page=0 resync=10s watch-list=on # e18089
worker c1 i1
`))
	if err != nil {
		t.Fatal(err)
	}
	if got := strings.Join(s.Components(), " "); got != "atomic-fifo replica resync streaming-list work-queue" {
		t.Errorf("the components are %s", got)
	}
	if got := strings.Join(s.Bugs(), " "); got != "k115658 k27004" {
		t.Errorf("the bugs are %s", got)
	}
}

// A scenario survives printing and parsing.
func TestTextRoundTrip(t *testing.T) {
	for _, s := range loadAll(t) {
		again, err := scenarios.Parse(s.Name+".sim", []byte(s.Text()))
		if err != nil {
			t.Errorf("%s: %v", s.Name, err)
			continue
		}
		if !script.Equal(s.File(), again.File()) || again.Text() != s.Text() || again.Name != s.Name {
			t.Errorf("%s: after a round trip it is\n%s", s.Name, again.Text())
		}
	}
}

// The scripts are in canonical form, so that -rewrite changes only outputs.
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
			t.Errorf("%s is not in canonical form:\n%s", path, want)
		}
	}
}

// world declares the names that the commands' examples use.
var world = []string{
	"cluster replicas=2", "resource pods", "writer w1", "informer i1 pods handlers=h1", "handler i1 h2", "worker c1 i1",
}

// around returns the declarations for an example of a command: those before the command's own.
func around(name string) string {
	for i, line := range world {
		if strings.HasPrefix(line, name+" ") {
			return strings.Join(world[:i], "\n") + "\n"
		}
	}
	return strings.Join(world, "\n") + "\n"
}

// Every command has examples in its comment, and all of them parse.
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

// commandExamples returns the indented lines of the comments in cmd_*.go by the command that they start with.
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
						line = strings.Join(lines[i:], "\n") // with its expected output
					}
					examples[name] = append(examples[name], line)
				}
			}
		}
	}
	return examples
}

// The folder has a page for who opens it: its scenarios by theme, with their prose. With -rewrite it is written anew.
func TestCataloguePage(t *testing.T) {
	all, err := scenarios.Catalogue()
	if err != nil {
		t.Fatal(err)
	}
	var page strings.Builder
	fmt.Fprintf(&page, "<!-- Written by go test ./scenarios -run TestCataloguePage -rewrite: change themes.txt or a scenario, and write it again. -->\n# The catalogue\n\n"+
		"%d scenarios, theme by theme, in the order in which they are best read. `informersim catalog` says the same, with the faults of each, and\n"+
		"`informersim run scenarios/testdata/NAME.sim` plays one; [docs/scenarios.md](../../docs/scenarios.md) explains the language. All lie in one folder, so that a name\n"+
		"stays when its theme changes.\n", len(all))
	theme := ""
	for _, e := range all {
		if e.Theme != theme {
			theme = e.Theme
			fmt.Fprintf(&page, "\n## %s\n\n%s.\n\n| scenario | what it shows |\n|---|---|\n", theme, strings.ToUpper(e.ThemeText[:1])+e.ThemeText[1:])
		}
		prose := strings.NewReplacer("|", `\|`, "<", "&lt;", "\n", " ").Replace(e.Prose)
		fmt.Fprintf(&page, "| [%s](%[1]s.sim) | %s |\n", e.Name, prose)
	}
	const file = "testdata/README.md"
	if *rewrite {
		if err := os.WriteFile(file, []byte(page.String()), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	if got, err := os.ReadFile(file); err != nil || string(got) != page.String() {
		t.Errorf("%s is stale: go test ./scenarios -run TestCataloguePage -rewrite (%v)", file, err)
	}
}
