package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
)

// walk calls f for every file of the repository, nested modules included, with its path from the root.
func walk(t *testing.T, f func(name string)) {
	t.Helper()
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	err = filepath.WalkDir(root, func(file string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		name, err := filepath.Rel(root, file)
		if err != nil {
			return err
		}
		name = filepath.ToSlash(name)
		if d.IsDir() {
			switch {
			case name == ".git" || name == ".ci/tmp" || d.Name() == "node_modules":
				return fs.SkipDir
			}
			return nil
		}
		n++
		f(name)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	if n < 20 {
		t.Fatalf("found only %d files: the walk is broken", n)
	}
}

func read(t *testing.T, name string) []byte {
	t.Helper()
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	b, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func isProduct(name string) bool {
	return strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") && !strings.Contains("/"+name, "/testdata/")
}

// Files and functions are short.
func TestFilesAndFunctionsAreShort(t *testing.T) {
	files, funcs := map[string]bool{}, map[string]bool{}
	walk(t, func(name string) {
		if !isProduct(name) {
			return
		}
		text := read(t, name)
		if n := bytes.Count(text, []byte("\n")); n > maxFileLines {
			if files[name] = true; longFiles[name] == "" {
				t.Errorf("%s has %d lines, the limit is %d: split it", name, n, maxFileLines)
			}
		}
		for _, f := range longFunctions(t, name, text) {
			if funcs[f.name] = true; longFuncs[f.name] == "" {
				t.Errorf("%s has %d lines, the limit is %d: split it", f.name, f.lines, maxFuncLines)
			}
		}
	})
	unused(t, "longFiles", longFiles, files)
	unused(t, "longFuncs", longFuncs, funcs)
}

// unused reports stale exceptions.
func unused(t *testing.T, table string, listed map[string]string, used map[string]bool) {
	t.Helper()
	for name := range listed {
		if !used[name] {
			t.Errorf("%s in %s of internal/tidy/tables_test.go is no longer needed: remove it", name, table)
		}
	}
}

type longFunction struct {
	name  string // file:name
	lines int
}

func longFunctions(t *testing.T, name string, text []byte) (long []longFunction) {
	t.Helper()
	fset := token.NewFileSet()
	f, err := parser.ParseFile(fset, name, text, parser.SkipObjectResolution)
	if err != nil {
		t.Error(err)
		return nil
	}
	for _, d := range f.Decls {
		fn, ok := d.(*ast.FuncDecl)
		if !ok || fn.Body == nil {
			continue
		}
		if n := fset.Position(fn.End()).Line - fset.Position(fn.Pos()).Line + 1; n > maxFuncLines {
			long = append(long, longFunction{name + ":" + fn.Name.Name, n})
		}
	}
	return long
}

// Every package has a doc.go that says what it is.
func TestPackagesAreDocumented(t *testing.T) {
	var dirs []string
	walk(t, func(name string) {
		if isProduct(name) && !slices.Contains(dirs, path.Dir(name)) {
			dirs = append(dirs, path.Dir(name))
		}
	})
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	missing := map[string]bool{}
	for _, dir := range dirs {
		name := path.Join(dir, "doc.go")
		if _, err := os.Stat(filepath.Join(root, filepath.FromSlash(name))); err != nil {
			if missing[dir] = true; noDoc[dir] == "" {
				t.Errorf("%s has Go files, but no doc.go: say there what the package is", dir)
			}
			continue
		}
		f, err := parser.ParseFile(token.NewFileSet(), name, read(t, name), parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			t.Error(err)
		} else if f.Doc == nil || len(strings.Fields(f.Doc.Text())) < 8 {
			t.Errorf("%s does not say what the package is", name)
		}
	}
	unused(t, "noDoc", noDoc, missing)
}

// The words are concatenated so that this file does not contain them.
var (
	bannedWords = regexp.MustCompile(`\b(` + "TO" + `DO|FIX` + `ME|XX` + `X)\b|(?i:\bnot ` + `implemented\b|\bimplement ` + `me\b)`)
	allowedWord = regexp.MustCompile(`context\.` + "TO" + `DO\b`) // the name of a function
	machinePath = regexp.MustCompile("(?:^|[\\s\"'`(=:])((?:/work|/root|/tmp|/home|/Users|/var/folders)/[\\w.]+)")
)

// untidyLine says what in a line does not belong in the repository, "" if nothing.
func untidyLine(line string) string {
	if word := bannedWords.FindString(allowedWord.ReplaceAllString(line, "")); word != "" {
		return fmt.Sprintf("%q: finish it, or document the limitation", word)
	}
	if m := machinePath.FindStringSubmatch(line); m != nil {
		return fmt.Sprintf("%q is a machine-specific path", m[1])
	}
	return ""
}

// isText reports whether a file is written by people, not recorded, and so checked line by line.
func isText(name string) bool {
	switch path.Ext(name) {
	case ".go", ".md", ".sim", ".sh", ".html", ".css", ".js", ".tmpl":
		return true
	case ".yml", ".yaml", ".json", ".txt":
		return !strings.Contains("/"+name, "/testdata/")
	}
	return name == ".ci/run"
}

// There are no to-do markers and no machine-specific paths.
func TestWordsAndPaths(t *testing.T) {
	walk(t, func(name string) {
		if !isText(name) {
			return
		}
		for i, line := range strings.Split(string(read(t, name)), "\n") {
			if why := untidyLine(line); why != "" {
				t.Errorf("%s:%d: %s", name, i+1, why)
			}
		}
	})
}

func TestUntidyLines(t *testing.T) {
	for line, untidy := range map[string]bool{
		"// TO" + "DO: later":  true,
		"x := 1 // FIX" + "ME": true,
		"XX" + "X":             true,
		`return errors.New("not ` + `implemented")`: true,
		"Not " + "Implemented":                      true,
		"ctx := context.TO" + "DO()":                false,
		"todos, XXXL, unimplemented":                false,
		"http.StatusNotImplemented":                 false,
		`os.Open("/tm` + `p/x")`:                    true,
		"see /wor" + "k/main":                       true,
		"cd /roo" + "t/go":                          true,
		"/.ci/tmp/":                                 false,
		"https://example.org/home/page":             false,
		"GET /api/v1/namespaces/home/pods":          false,
		"the root/leaf":                             false,
	} {
		if got := untidyLine(line); (got != "") != untidy {
			t.Errorf("%q: %q, want untidy %v", line, got, untidy)
		}
	}
}

func TestLongFunctions(t *testing.T) {
	text := func(lines int) []byte {
		return []byte("package p\n\nfunc f() {\n" + strings.Repeat("\tf()\n", lines-2) + "}\n")
	}
	if got := longFunctions(t, "p.go", text(maxFuncLines)); got != nil {
		t.Errorf("a function at the limit is reported: %v", got)
	}
	if got := longFunctions(t, "p.go", text(maxFuncLines+1)); len(got) != 1 || got[0] != (longFunction{"p.go:f", maxFuncLines + 1}) {
		t.Errorf("a function over the limit: got %v", got)
	}
}
