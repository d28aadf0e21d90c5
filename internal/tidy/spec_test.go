package tidy

import (
	"fmt"
	"go/scanner"
	"go/token"
	"maps"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const specFolder = "docs/spec"

// item is one numbered behaviour, property or bug of docs/spec. Some bugs have several ids.
type item struct {
	ids  []string
	text string // the text after the ids
}

var (
	itemLine = regexp.MustCompile(`^- ((?:<a id="\w+"></a>)+)\*\*(\w+(?:, \w+)*)\*\* (.*)$`)
	anchor   = regexp.MustCompile(`<a id="(\w+)"></a>`)
)

// parseSpec reads the items of one page: list items of one line each, "- <a id="I47"></a>**I47** …".
func parseSpec(text string) (items []item, problems []string) {
	seen := map[string]bool{}
	for i, line := range strings.Split(text, "\n") {
		m := itemLine.FindStringSubmatch(line)
		if m == nil {
			if anchor.MatchString(line) || strings.HasPrefix(line, "- ") {
				problems = append(problems, fmt.Sprintf("line %d is not an item: write - <a id=\"ID\"></a>**ID** and a text, all on one line", i+1))
			}
			continue
		}
		it := item{ids: strings.Split(m[2], ", "), text: m[3]}
		var anchors []string
		for _, a := range anchor.FindAllStringSubmatch(m[1], -1) {
			anchors = append(anchors, a[1])
		}
		if !slices.Equal(anchors, it.ids) {
			problems = append(problems, fmt.Sprintf("line %d has anchors %v, want %v", i+1, anchors, it.ids))
		}
		for _, id := range it.ids {
			if seen[id] {
				problems = append(problems, fmt.Sprintf("line %d defines %s again", i+1, id))
			}
			seen[id] = true
		}
		items = append(items, it)
	}
	return items, problems
}

// page returns the items of a page of docs/spec.
func page(t *testing.T, name string) (items []item) {
	t.Helper()
	name = path.Join(specFolder, name)
	items, problems := parseSpec(string(read(t, name)))
	for _, problem := range problems {
		t.Errorf("%s: %s", name, problem)
	}
	if len(items) == 0 {
		t.Fatalf("%s has no items", name)
	}
	return items
}

var (
	// number matches a behaviour in prose, or a range of them: I47, I44–I51, I40 to I61.
	number = regexp.MustCompile(`\b([IS])(\d{1,3})\b(?:(?: ?[–-] ?| to )([IS])(\d{1,3})\b)?`)
	// testNumbers matches those in the name of a test: TestI14I16Watch, BenchmarkResyncI66.
	testNumbers = regexp.MustCompile(`(?:Test|Benchmark|Fuzz|Example|[a-z_])((?:[IS]\d{1,3})+)(?:$|[A-Z_])`)
	oneNumber   = regexp.MustCompile(`[IS]\d+`)
	testName    = regexp.MustCompile(`^(?:Test|Benchmark|Fuzz|Example)`)
	// bug matches an issue of one of four repositories, or the scenario named after it: k115658, k133810_compacted.
	bug = regexp.MustCompile(`\b(k\d{5,6}|e\d{4,5}|cr\d{4}|cg\d{4})(?:_\w+)?\b`)
)

// inProse returns the ids cited in a comment, a string or a line of a page.
func inProse(text string) (ids []string) {
	for _, m := range number.FindAllStringSubmatch(text, -1) {
		first, _ := strconv.Atoi(m[2])
		last := first
		if m[3] == m[1] {
			last, _ = strconv.Atoi(m[4])
		} else if m[3] != "" {
			ids = append(ids, m[3]+m[4])
		}
		for n := first; n <= max(first, last); n++ {
			ids = append(ids, m[1]+strconv.Itoa(n))
		}
	}
	for _, m := range bug.FindAllStringSubmatch(text, -1) {
		ids = append(ids, m[1])
	}
	return ids
}

// citation is an id in a file.
type citation struct {
	id   string
	line int
}

// citationsIn returns a file's citations: in Go those in comments, strings and names of tests, elsewhere those in the text.
func citationsIn(name string, text []byte) (found []citation) {
	add := func(line int, ids []string) {
		for _, id := range ids {
			found = append(found, citation{id, line})
		}
	}
	base := strings.TrimSuffix(path.Base(name), path.Ext(name))
	if m := bug.FindStringSubmatch(base); m != nil && strings.HasPrefix(base, m[0]) {
		add(1, m[1:2])
	}
	if path.Ext(name) != ".go" {
		for i, line := range strings.Split(string(text), "\n") {
			add(i+1, inProse(line))
		}
		return found
	}
	file := token.NewFileSet().AddFile(name, -1, len(text))
	var s scanner.Scanner
	s.Init(file, text, nil, scanner.ScanComments)
	for {
		pos, tok, lit := s.Scan()
		switch {
		case tok == token.EOF:
			return found
		case tok == token.COMMENT || tok == token.STRING:
			for i, line := range strings.Split(lit, "\n") {
				add(file.Line(pos)+i, inProse(line))
			}
		case tok == token.IDENT && testName.MatchString(lit):
			for _, m := range testNumbers.FindAllStringSubmatch(lit, -1) {
				add(file.Line(pos), oneNumber.FindAllString(m[1], -1))
			}
		}
	}
}

// mayCite reports whether a file is searched for citations.
func mayCite(name string) bool {
	return slices.Contains([]string{".go", ".md", ".sim", ".probe", ".txtar"}, path.Ext(name))
}

// onlyMentions reports whether a file names numbers without implementing or testing them: pages, and the tests of citations.
func onlyMentions(name string) bool {
	return path.Ext(name) == ".md" || strings.HasPrefix(name, "internal/tidy/") || name == "informer/conformance_test.go"
}

// cited returns the files that cite each id, and the line of the first citation.
func cited(t *testing.T) map[string]map[string]int {
	all := map[string]map[string]int{}
	walk(t, func(name string) {
		if !mayCite(name) {
			return
		}
		for _, c := range citationsIn(name, read(t, name)) {
			if all[c.id] == nil {
				all[c.id] = map[string]int{}
			}
			if _, known := all[c.id][name]; !known {
				all[c.id][name] = c.line
			}
		}
	})
	return all
}

// numberProblems reports citations of undefined numbers, uncited numbers without a reason in notBuilt, and stale rows of it.
func numberProblems(defined []string, cited map[string]map[string]int, notBuilt map[string]string) (problems []string) {
	for id, files := range cited {
		if !slices.Contains(defined, id) {
			for name, line := range files {
				problems = append(problems, fmt.Sprintf("%s:%d cites %s, which %s does not define", name, line, id, specFolder))
			}
		}
	}
	for _, id := range defined {
		used := false
		for name := range cited[id] {
			used = used || !onlyMentions(name)
		}
		reason, listed := notBuilt[id]
		switch {
		case used && listed:
			problems = append(problems, fmt.Sprintf("%s is cited: remove it from notBuilt", id))
		case !used && !listed && number.MatchString(id):
			problems = append(problems, fmt.Sprintf("nothing cites %s: cite it where it is implemented, or say in notBuilt why it is not", id))
		case listed && reason == "":
			problems = append(problems, fmt.Sprintf("%s is in notBuilt without a reason", id))
		}
	}
	for id := range notBuilt {
		if !slices.Contains(defined, id) {
			problems = append(problems, fmt.Sprintf("%s is in notBuilt, but %s does not define it", id, specFolder))
		}
	}
	slices.Sort(problems)
	return problems
}

// Every cited number is defined, and every defined number is cited.
func TestCitations(t *testing.T) {
	var defined []string
	for name, letter := range map[string]string{"informer.md": "I", "apiserver.md": "S"} {
		for i, it := range page(t, name) {
			if want := letter + strconv.Itoa(i+1); it.ids[0] != want || len(it.ids) > 1 {
				t.Errorf("%s/%s has %v instead of %s: numbers have no gaps", specFolder, name, it.ids, want)
			}
			defined = append(defined, it.ids...)
		}
	}
	// Fixes and related issues named in the text of a bug count as defined.
	for _, m := range bug.FindAllStringSubmatch(string(read(t, path.Join(specFolder, "bugs.md"))), -1) {
		if !slices.Contains(defined, m[1]) {
			defined = append(defined, m[1])
		}
	}
	for _, problem := range numberProblems(defined, cited(t), notBuilt) {
		t.Error(problem)
	}
}

var (
	quoted   = regexp.MustCompile("`([^`]+)`(?: \\((Test\\w+)\\))?")
	isPath   = regexp.MustCompile(`^[\w./-]+/[\w.-]+$`)
	notShown = "**Not reproduced yet.**"
	shownBy  = "**Shown by** "
)

// proof returns the part of an item of bugs.md that names what shows the bug.
func proof(text string) (shown string, problem string) {
	_, shown, isShown := strings.Cut(text, shownBy)
	switch {
	case isShown == strings.Contains(text, notShown):
		return "", "says either " + shownBy + "or " + notShown
	case isShown && !quoted.MatchString(shown):
		return "", "names nothing that shows it"
	}
	return shown, ""
}

// bugs.md is right about which bugs are shown, and by what.
func TestBugsAreShown(t *testing.T) {
	all := cited(t)
	mutants := literals(t, "properties/mutants")
	walk(t, func(name string) {
		if file, ok := strings.CutSuffix(name, ".txtar"); ok && path.Dir(name) == "properties/mutants" {
			mutants[path.Base(file)] = true
		}
	})
	for _, it := range page(t, "bugs.md") {
		shown, problem := proof(it.text)
		if problem != "" {
			t.Errorf("bugs.md: %s %s", it.ids[0], problem)
			continue
		}
		for _, m := range quoted.FindAllStringSubmatch(shown, -1) {
			switch {
			case !isPath.MatchString(m[1]):
				if !mutants[m[1]] {
					t.Errorf("bugs.md: %s names the mutant %s, which properties/mutants does not have", it.ids[0], m[1])
				}
			case !exists(t, m[1]):
				t.Errorf("bugs.md: %s names %s, which does not exist", it.ids[0], m[1])
			case m[2] != "" && !strings.Contains(string(read(t, m[1])), "func "+m[2]):
				t.Errorf("bugs.md: %s names %s, which %s does not have", it.ids[0], m[2], m[1])
			}
		}
		for _, id := range it.ids {
			for name := range all[id] {
				switch {
				case path.Dir(name) == "docs/museum": // written by informersim museum, whose tests see to it
				case strings.HasPrefix(path.Base(name), id) && !strings.Contains(shown, "`"+name+"`"):
					t.Errorf("%s is named after a bug: name it at %s in bugs.md", name, id)
				case shown == "" && (path.Ext(name) == ".sim" || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "properties/mutants/")):
					t.Errorf("bugs.md says that %s is not reproduced yet, and %s:%d cites it", id, name, all[id][name])
				}
			}
		}
	}
}

var place = regexp.MustCompile(`^\(([a-z, ]+)\): `)

// shared is a property of package api in the engine's list.
var shared = regexp.MustCompile(`\bapi\.([A-Z]\w+)\(`)

// properties.md is right about where each property is checked.
func TestPropertiesAreWhereTheSpecSays(t *testing.T) {
	checkers := []string{"properties", "simtest", "scenarios"}
	names := map[string]map[string]bool{}
	for _, folder := range checkers {
		names[folder] = literals(t, folder)
	}
	maps.Copy(names["simtest"], literals(t, "world")) // its engine
	for _, m := range shared.FindAllSubmatch(read(t, "world/api_properties.go"), -1) {
		names["simtest"][string(m[1])] = true
	}
	for _, it := range page(t, "properties.md") {
		m := place.FindStringSubmatch(it.text)
		if m == nil {
			t.Errorf("properties.md: %s does not say where it is checked: write (properties), (simtest), (scenarios) or (not built)", it.ids[0])
			continue
		}
		var where []string
		if m[1] != "not built" {
			where = strings.Split(m[1], ", ")
		}
		for _, folder := range where {
			if !slices.Contains(checkers, folder) {
				t.Errorf("properties.md: %s is checked in %s, want one of %v", it.ids[0], folder, checkers)
			}
		}
		for _, folder := range checkers {
			if said := slices.Contains(where, folder); said != names[folder][it.ids[0]] {
				t.Errorf("properties.md says %v that %s is checked in %s, but its name is there: %v", said, it.ids[0], folder, !said)
			}
		}
	}
}

// literals returns the string literals in the Go code of a folder and those below it, without tests.
func literals(t *testing.T, folder string) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	walk(t, func(name string) {
		if !strings.HasPrefix(name, folder+"/") || !isProduct(name) {
			return
		}
		text := read(t, name)
		var s scanner.Scanner
		s.Init(token.NewFileSet().AddFile(name, -1, len(text)), text, nil, 0)
		for {
			_, tok, lit := s.Scan()
			if tok == token.EOF {
				return
			}
			if value, err := strconv.Unquote(lit); tok == token.STRING && err == nil {
				found[value] = true
			}
		}
	})
	return found
}

func exists(t *testing.T, name string) bool {
	t.Helper()
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	_, err = os.Stat(filepath.Join(root, filepath.FromSlash(name)))
	return err == nil
}

// The numbers are concatenated so that this file does not cite undefined ones.
func TestCitationsIn(t *testing.T) {
	i, s, k := "I", "S", "k"
	for _, test := range []struct{ name, text, want string }{
		{"a.go", "package p // as upstream (" + i + "47, " + s + "3)", "I47:1 S3:1"},
		{"a.go", "package p\n\n/* one\n" + i + "5 */", "I5:4"},
		{"a.go", "package p\nvar _ = \"" + i + "900\"", i + "900:2"},
		{"a.go", "package p\nfunc Test" + i + "14" + i + "16Watch() {}", "I14:2 I16:2"},
		{"a.go", "package p\nfunc TestResync" + i + "66() {}", "I66:2"},
		{"a.go", "package p\nvar " + i + "5, " + s + "3 = IPv4, x" + i + "5", ""},
		{"a.go", "package p\nfunc TestIPv4Is" + s + "ound() {}", ""},
		{"a.md", i + "44–" + i + "46 and " + i + "2 to " + i + "3", "I44:1 I45:1 I46:1 I2:1 I3:1"},
		{"a.md", i + "8-" + s + "9", "S9:1 I8:1"},
		{"a.md", "a5" + i + "5, 0x" + s + "3, " + i + "5x, " + i + "_5, " + i + "18N, " + s + "1234", ""},
		{"a.sim", "# " + k + "11565" + "8", "k115658:1"},
		{"scenarios/" + k + "13381" + "0_compacted.sim", "", "k133810:1"},
		{"a.sim", "get " + k + "13381" + "0_compacted 1e" + "18089 " + k + "8s", "k133810:1"},
		{"a.probe", "probe a/b " + s + "1", "S1:1"},
	} {
		var got []string
		for _, c := range citationsIn(test.name, []byte(test.text)) {
			got = append(got, fmt.Sprintf("%s:%d", c.id, c.line))
		}
		if strings.Join(got, " ") != test.want {
			t.Errorf("%s %q cites %v, want %s", test.name, test.text, got, test.want)
		}
	}
}

func TestNumberProblems(t *testing.T) {
	one, two, three, nine := "I"+"1", "I"+"2", "I"+"3", "I"+"9"
	got := numberProblems([]string{one, two, three}, map[string]map[string]int{
		one: {"a.go": 1}, two: {specFolder + "/informer.md": 4}, three: {"a.go": 2}, nine: {"b.md": 7},
	}, map[string]string{three: "later", nine: "never"})
	want := []string{
		three + " is cited: remove it from notBuilt",
		nine + " is in notBuilt, but docs/spec does not define it",
		"b.md:7 cites " + nine + ", which docs/spec does not define",
		"nothing cites " + two + ": cite it where it is implemented, or say in notBuilt why it is not",
	}
	if slices.Sort(want); !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
}

func TestParseSpec(t *testing.T) {
	for text, want := range map[string]string{
		`- <a id="x"></a>**x** text`:                                                         "",
		`- <a id="x"></a><a id="y"></a>**x, y** text`:                                        "",
		`- <a id="x"></a>**y** text`:                                                         "line 1 has anchors [x], want [y]",
		`- **x** text`:                                                                       "line 1 is not an item",
		"- <a id=\"x\"></a>**x** text\n- <a id=\"x\"></a>**x** text":                         "line 2 defines x again",
		"prose, * a list of its own, and\n\n* what is not an item\n":                         "",
		"- <a id=\"x\"></a>**x** (1) *f* → s. **Not reproduced yet.**\n\n<a id=\"y\"></a>**": "line 3 is not an item",
	} {
		_, problems := parseSpec(text)
		if got := strings.Join(problems, "; "); !strings.HasPrefix(got, want) || (got == "") != (want == "") {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	}
	for text, bad := range map[string]bool{
		"a → b. " + notShown:              false,
		"a → b. " + shownBy + "`a/b.sim`": false,
		"a → b.":                          true,
		"a → b. " + shownBy + "somebody":  true,
		notShown + shownBy + "`a`":        true,
	} {
		if _, problem := proof(text); (problem != "") != bad {
			t.Errorf("%q: %q, want a problem: %v", text, problem, bad)
		}
	}
}
