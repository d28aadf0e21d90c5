package tidy

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"go/ast"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

const module = "github.com/informersim/informersim"

// goPackage is the output of `go list` for one package.
type goPackage struct {
	ImportPath, Name, Dir, Export string
	GoFiles, Imports              []string
	Standard                      bool
	Error                         *struct{ Err string }
}

// folder returns the package's folder in the module, "." for the root.
func (p *goPackage) folder() string {
	if p.ImportPath == module {
		return "."
	}
	return strings.TrimPrefix(p.ImportPath, module+"/")
}

func (p *goPackage) ours() bool {
	return p.ImportPath == module || strings.HasPrefix(p.ImportPath, module+"/")
}

// source holds the module's packages, and the export data of everything that they import.
type source struct {
	root     string
	ours     []*goPackage      // sorted by import path
	standard []string          // import paths of the standard library
	export   map[string]string // import path to the file of the export data
	fset     *token.FileSet
	imports  types.Importer // has read what several packages import once
}

var load = sync.OnceValues(func() (*source, error) {
	root, err := findRoot()
	if err != nil {
		return nil, err
	}
	cmd := exec.Command("go", "list", "-e", "-deps", "-export", "-json=ImportPath,Name,Dir,Export,GoFiles,Imports,Standard,Error", "./...")
	cmd.Dir = root
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w\n%s", err, stderr.String())
	}
	s := &source{root: root, export: map[string]string{}, fset: token.NewFileSet()}
	s.imports = s.importer(s.fset)
	for d := json.NewDecoder(bytes.NewReader(out)); ; {
		p := &goPackage{}
		if err := d.Decode(p); err == io.EOF {
			break
		} else if err != nil {
			return nil, err
		}
		s.export[p.ImportPath] = p.Export
		if p.Standard {
			s.standard = append(s.standard, p.ImportPath)
		}
		if p.ours() {
			s.ours = append(s.ours, p)
		}
	}
	slices.SortFunc(s.ours, func(a, b *goPackage) int { return strings.Compare(a.ImportPath, b.ImportPath) })
	return s, nil
})

func mustLoad(t *testing.T) *source {
	t.Helper()
	s, err := load()
	if err != nil {
		t.Fatal(err)
	}
	if len(s.ours) < 2 {
		t.Fatalf("go list found %d packages of this module", len(s.ours))
	}
	return s
}

// findRoot returns the folder of go.mod.
func findRoot() (string, error) {
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for ; ; dir = filepath.Dir(dir) {
		if _, err := os.Stat(filepath.Join(dir, "go.mod")); err == nil {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", errors.New("no go.mod in this folder or above it")
		}
	}
}

// core reports whether the package in that folder must be deterministic.
func core(folder string) bool { return coreIn(isCore, folder) }

func coreIn(table map[string]bool, folder string) bool {
	for f := folder; ; f = path.Dir(f) {
		if c, listed := table[f]; listed {
			return c
		}
		if f == "." {
			return false
		}
	}
}

// checked is a package with its types.
type checked struct {
	fset  *token.FileSet
	files []*ast.File
	info  *types.Info
}

// check parses and type-checks the files of one package. Positions use the given names; contents come from read.
func (s *source) check(importPath string, names []string, read func(name string) ([]byte, error)) (*checked, error) {
	c := &checked{fset: s.fset, info: &types.Info{
		Types: map[ast.Expr]types.TypeAndValue{}, Uses: map[*ast.Ident]types.Object{},
	}}
	for _, name := range names {
		text, err := read(name)
		if err != nil {
			return nil, err
		}
		f, err := parser.ParseFile(c.fset, name, text, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return nil, err
		}
		c.files = append(c.files, f)
	}
	conf := types.Config{Importer: s.imports}
	_, err := conf.Check(importPath, c.fset, c.files, c.info)
	return c, err
}

// importer reads imports from export data, which takes a tenth of the time of type-checking their source.
func (s *source) importer(fset *token.FileSet) types.Importer {
	return importer.ForCompiler(fset, "gc", func(path string) (io.ReadCloser, error) {
		file := s.export[path]
		if file == "" {
			return nil, fmt.Errorf("%s does not compile, or this module does not import it", path)
		}
		return os.Open(file)
	})
}

// Core packages are deterministic: no goroutine, no channel, no real clock, no global random numbers, no locks, no
// environment, and no visible map order.
func TestCoreIsDeterministic(t *testing.T) {
	s := mustLoad(t)
	used := map[exception]bool{}
	for _, p := range s.ours {
		if !core(p.folder()) {
			continue
		}
		if p.Error != nil {
			t.Errorf("%s: %s", p.ImportPath, p.Error.Err)
			continue
		}
		var names []string
		for _, f := range p.GoFiles {
			names = append(names, path.Join(p.folder(), f))
		}
		c, err := s.check(p.ImportPath, names, func(name string) ([]byte, error) {
			return os.ReadFile(filepath.Join(s.root, filepath.FromSlash(name)))
		})
		if err != nil {
			t.Errorf("%s does not type-check: %v", p.ImportPath, err)
			continue
		}
		for _, v := range determinism(c) {
			if e := exceptionFor(v); e != nil {
				used[*e] = true
				continue
			}
			t.Errorf("%s: %s (rule %q)", v.at, v.why, v.rule)
		}
	}
	for _, e := range exceptions {
		if !used[e] {
			t.Errorf("the exception of %s from rule %q is no longer needed: remove it from internal/tidy/tables_test.go", e.file, e.rule)
		}
		if e.reason == "" {
			t.Errorf("the exception of %s from rule %q has no reason", e.file, e.rule)
		}
	}
}

func exceptionFor(v violation) *exception {
	for i, e := range exceptions {
		if e.file == v.at.Filename && e.rule == v.rule {
			return &exceptions[i]
		}
	}
	return nil
}
