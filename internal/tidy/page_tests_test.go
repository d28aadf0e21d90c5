package tidy

import (
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

var (
	// testFunc matches the declaration of what `go test` runs, in a file or in a page's example.
	testFunc = regexp.MustCompile(`(?m)^func ((?:Test|Benchmark|Fuzz|Example)\w*)\(`)
	// nameInProse matches the name of one in prose.
	nameInProse = regexp.MustCompile("`((?:Test|Benchmark|Fuzz|Example)[A-Z0-9]\\w*)`")
	// testCommand matches what follows `go test`, and the folder that -C names, up to the end of the code, a comment, or a pipe.
	testCommand = regexp.MustCompile("\\bgo (?:-C (\\S+) )?test ([^`#\\n]*)")
	// testPattern matches a flag that selects tests or benchmarks.
	testPattern = regexp.MustCompile(`-(?:run|bench|fuzz)[ =]('[^']*'|\S+)`)
)

// testsIn returns the tests, benchmarks, fuzz targets and examples of each folder, nested modules included.
func testsIn(root string) (map[string][]string, error) {
	all := map[string][]string{}
	err := filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && (d.Name() == ".git" || d.Name() == "tmp" || d.Name() == "testdata"):
			return fs.SkipDir
		case !strings.HasSuffix(file, "_test.go"):
			return nil
		}
		data, err := os.ReadFile(file)
		if err != nil {
			return err
		}
		folder, err := filepath.Rel(root, filepath.Dir(file))
		for _, m := range testFunc.FindAllSubmatch(data, -1) {
			all[filepath.ToSlash(folder)] = append(all[filepath.ToSlash(folder)], string(m[1]))
		}
		return err
	})
	return all, err
}

// selection is a pattern of a command, and the folders in which it should match something. There are none if the page does not name them.
type selection struct {
	pattern string
	folders []string
}

// selections returns what the commands of a page select, one for each alternative of a pattern.
func selections(page string) (all []selection) {
	for _, m := range testCommand.FindAllStringSubmatch(page, -1) {
		base, args := m[1], m[2]
		var folders []string
		for _, arg := range strings.Fields(args) {
			if strings.Contains(arg, "...") {
				folders = nil
				break
			}
			if strings.HasPrefix(arg, "./") || arg == "." && base != "" {
				folders = append(folders, path.Join(base, arg))
			}
		}
		for _, p := range testPattern.FindAllStringSubmatch(args, -1) {
			for _, one := range strings.Split(strings.Trim(p[1], "'"), "|") {
				one, _, _ = strings.Cut(one, "/")
				if strings.Trim(one, "^$.") != "" {
					all = append(all, selection{one, folders})
				}
			}
		}
	}
	return all
}

// Tests and benchmarks that pages name exist, and the commands that they show select some.
func TestTestsInPagesExist(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	tests, err := testsIn(root)
	if err != nil {
		t.Fatal(err)
	}
	everywhere := map[string]bool{}
	for _, names := range tests { // order: a set is built
		for _, name := range names {
			everywhere[name] = true
		}
	}
	named, selected := 0, 0
	for _, pattern := range []string{"*.md", "docs/*.md", "docs/museum/*.md", "conformance/*.md", "examples/*/*.md"} {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			page, _ := filepath.Rel(root, file)
			own := map[string]bool{} // declared by its examples
			for _, m := range testFunc.FindAllSubmatch(data, -1) {
				own[string(m[1])] = true
			}
			for _, m := range nameInProse.FindAllSubmatch(data, -1) {
				named++
				if name := string(m[1]); !everywhere[name] && !own[name] {
					t.Errorf("%s names %s, which no package has", page, name)
				}
			}
			for _, s := range selections(string(data)) {
				match, err := regexp.Compile(s.pattern)
				if err != nil {
					t.Errorf("%s: go test selects %q: %v", page, s.pattern, err)
					continue
				}
				if len(s.folders) == 0 {
					continue // in a module of the reader's
				}
				selected++
				if !slices.ContainsFunc(s.folders, func(folder string) bool { return slices.ContainsFunc(tests[folder], match.MatchString) }) {
					t.Errorf("%s: go test selects %q, and %v has nothing of that name", page, s.pattern, s.folders)
				}
			}
		}
	}
	if named < 20 || selected < 40 {
		t.Errorf("pages have %d names and %d selections of tests: they are no longer found", named, selected)
	}
}

func TestSelections(t *testing.T) {
	got := selections("`go test ./sim ./world -run '^TestA$|B/c' -bench . -v` and\n\tgo -C wild/x test . -run=TestD # -run TestE\n\tgo test -run TestF ./...\n")
	want := []selection{{"^TestA$", []string{"sim", "world"}}, {"B", []string{"sim", "world"}}, {"TestD", []string{"wild/x"}}, {"TestF", nil}}
	if !slices.EqualFunc(got, want, func(a, b selection) bool { return a.pattern == b.pattern && slices.Equal(a.folders, b.folders) }) {
		t.Errorf("got %v, want %v", got, want)
	}
}
