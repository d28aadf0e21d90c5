package mutation_test

import (
	"bytes"
	"cmp"
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
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/informersim/informersim/internal/garbage"
	"github.com/informersim/informersim/internal/mutation"
)

// pkg is what go list says of a package.
type pkg struct {
	Dir, ImportPath, Export string
	GoFiles                 []string
}

// compiler checks the types of packages against compiled ones, which is all of a compiler that can reject a mutant, and a hundred
// times as fast as building it.
type compiler struct {
	packages map[string]pkg // by folder
	fset     *token.FileSet
	imports  types.Importer
	parsed   map[string]*ast.File // the files as they are
}

// ofDriver compiles what the drivers link. Asking for that takes as long as a dozen mutants, so the tests share it.
var ofDriver = sync.OnceValues(newCompiler)

func newCompiler() (*compiler, error) {
	cmd := exec.Command("go", "list", "-export", "-deps", "-json=Dir,ImportPath,Export,GoFiles", "./driver", "./requests")
	cmd.Stderr = os.Stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", err)
	}
	c := &compiler{packages: map[string]pkg{}, fset: token.NewFileSet(), parsed: map[string]*ast.File{}}
	exports := map[string]string{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			return nil, err
		}
		c.packages[p.Dir], exports[p.ImportPath] = p, p.Export
	}
	c.imports = importer.ForCompiler(c.fset, "gc", func(path string) (io.ReadCloser, error) {
		if exports[path] == "" {
			return nil, fmt.Errorf("package %s is not linked", path)
		}
		return os.Open(exports[path])
	})
	return c, nil
}

// check compiles the packages of the files, which have other texts.
func (c *compiler) check(texts map[string][]byte) error {
	done := map[string]bool{}
	for file := range texts {
		dir := filepath.Dir(file)
		if done[dir] {
			continue
		}
		done[dir] = true
		p, known := c.packages[dir]
		if !known {
			return fmt.Errorf("no driver links a package in %s", dir)
		}
		if err := c.checkPackage(p, texts); err != nil {
			return err
		}
	}
	return nil
}

// checkPackage leaves out the bodies of functions in files that are as they were, if what the others declare is the same: those compile as before.
func (c *compiler) checkPackage(p pkg, texts map[string][]byte) error {
	var files []*ast.File
	same := true
	for _, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		f, err := c.parse(path, texts)
		if err != nil {
			return err
		}
		files = append(files, f)
		text, mutated := texts[path]
		if !mutated {
			continue
		}
		was, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		of, err := c.parse(path, nil)
		if err != nil {
			return err
		}
		same = same && c.declares(f, text) == c.declares(of, was)
	}
	bare := map[string]bool{} // the files without bodies
	for i, name := range p.GoFiles {
		path := filepath.Join(p.Dir, name)
		if _, mutated := texts[path]; same && !mutated {
			files[i], bare[path] = withoutBodies(files[i]), true
		}
	}
	var first error
	config := types.Config{Importer: c.imports, GoVersion: "go1.26", Error: func(err error) {
		var e types.Error
		if errors.As(err, &e) && e.Soft && bare[c.fset.PositionFor(e.Pos, false).Filename] {
			return // an import that only the bodies use, or a generic function without its body
		}
		first = cmp.Or(first, err)
	}}
	_, _ = config.Check(p.ImportPath, c.fset, files, nil) // it returns the first of the errors that Error gets
	return first
}

// declares returns the text of a file without the bodies of its functions.
func (c *compiler) declares(f *ast.File, text []byte) string {
	var b strings.Builder
	at := 0
	for _, d := range f.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			b.Write(text[at:c.fset.PositionFor(fn.Body.Lbrace, false).Offset])
			at = c.fset.PositionFor(fn.Body.Rbrace, false).Offset
		}
	}
	b.Write(text[at:])
	return b.String()
}

func withoutBodies(f *ast.File) *ast.File {
	without := *f
	without.Decls = slices.Clone(f.Decls)
	for i, d := range without.Decls {
		if fn, ok := d.(*ast.FuncDecl); ok && fn.Body != nil {
			declared := *fn
			declared.Body = nil
			without.Decls[i] = &declared
		}
	}
	return &without
}

func (c *compiler) parse(path string, texts map[string][]byte) (*ast.File, error) {
	if text, mutated := texts[path]; mutated {
		return parser.ParseFile(c.fset, path, text, parser.SkipObjectResolution)
	}
	if f := c.parsed[path]; f != nil {
		return f, nil
	}
	f, err := parser.ParseFile(c.fset, path, nil, parser.SkipObjectResolution)
	c.parsed[path] = f
	return f, err
}

// Every mutant fits the source as it is now, changes it, and compiles.
func TestMutantsFitAndCompile(t *testing.T) {
	t.Cleanup(garbage.CollectSeldom())
	tree, err := mutation.OpenTree(t.Context(), ".", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	mutants, err := mutation.Load(os.DirFS(tree.Mutants()))
	if err != nil {
		t.Fatal(err)
	}
	mends, err := mutation.Load(os.DirFS(filepath.Join(tree.Mutants(), "mends")))
	if err != nil || len(mends) == 0 {
		t.Fatalf("%d mends, %v", len(mends), err)
	}
	mutants = append(mutants, mends...)
	if err := tree.CheckProperties(mutants); err != nil {
		t.Error(err)
	}
	err = tree.CheckProperties([]*mutation.Mutant{{Name: "m", Breaks: []string{"NoPanic", "NoPanik"}}})
	if want := "m: its header names the property NoPanik, and docs/spec/properties.md has none of that name"; err == nil || err.Error() != want {
		t.Errorf("a property that there is not: %v, want %s", err, want)
	}
	c, err := ofDriver()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mutants {
		texts, err := tree.Sources(m)
		if err != nil {
			t.Error(err)
			continue
		}
		if err := c.check(texts); err != nil {
			t.Errorf("%s does not compile: %v", m.Name, err)
		}
	}
}

// In a clone whose go.mod replaces client-go by a changed copy, mutants are of that, and the go command sees one replacement only.
func TestTreeOfAChangedClientGo(t *testing.T) {
	root, err := mutation.Root(".")
	if err != nil {
		t.Fatal(err)
	}
	own, err := exec.Command("go", "list", "-m", "-f", "{{.Dir}}", "k8s.io/client-go").Output()
	if err != nil {
		t.Fatal(err)
	}
	clone, changed := t.TempDir(), filepath.Join(t.TempDir(), "client-go")
	if err := os.CopyFS(changed, os.DirFS(strings.TrimSpace(string(own)))); err != nil {
		t.Fatal(err)
	}
	const line = "var changed = true\n"
	file := filepath.Join(changed, "tools", "cache", "changed.go")
	if err := os.WriteFile(file, []byte("package cache\n\n"+line), 0o644); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if e.Name() == "go.mod" {
			text, err := os.ReadFile(filepath.Join(root, "go.mod"))
			if err == nil {
				err = os.WriteFile(filepath.Join(clone, "go.mod"), append(text, "\nreplace k8s.io/client-go => "+changed+"\n"...), 0o644)
			}
			if err != nil {
				t.Fatal(err)
			}
			continue
		}
		if err := os.Symlink(filepath.Join(root, e.Name()), filepath.Join(clone, e.Name())); err != nil {
			t.Fatal(err)
		}
	}
	work := t.TempDir()
	tree, err := mutation.OpenTree(t.Context(), clone, work)
	if err != nil {
		t.Fatal(err)
	}
	edit := mutation.Edit{File: "k8s.io/client-go/tools/cache/changed.go", Old: line, New: "var changed = false\n"}
	if texts, err := tree.Sources(&mutation.Mutant{Name: "m", Edits: []mutation.Edit{edit}}); err != nil || !strings.Contains(string(texts[file]), "false") {
		t.Errorf("a mutant of what is changed: %q, %v", texts, err)
	}
	text, err := os.ReadFile(filepath.Join(work, "build.mod"))
	if n := strings.Count(string(text), "k8s.io/client-go =>"); err != nil || n != 1 || !strings.Contains(string(text), "k8s.io/client-go => "+filepath.Join(work, "client-go")) {
		t.Errorf("%d replacements, %v:\n%s", n, err, text)
	}
}

// The check above rejects what a compiler rejects.
func TestCompilerRejects(t *testing.T) {
	tree, err := mutation.OpenTree(t.Context(), ".", t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	c, err := ofDriver()
	if err != nil {
		t.Fatal(err)
	}
	edit := mutation.Edit{File: "informer/ring.go", Old: "func (r *ring) len() int { return int(r.tail - r.head) }\n"}
	for what, line := range map[string]string{
		"an unused variable": "func (r *ring) len() int { n := r.tail; return 0 }\n",
		"a wrong type":       "func (r *ring) len() int { return r.tail - r.head }\n",
		"a missing return":   "func (r *ring) len() int { }\n",
		"no Go":              "func (r *ring) len( { }\n",
		"a missing function": "\n",
	} {
		edit.New = line
		texts, err := tree.Sources(&mutation.Mutant{Name: "rejected", Edits: []mutation.Edit{edit}})
		if err != nil {
			t.Fatal(err)
		}
		if c.check(texts) == nil {
			t.Errorf("%s compiles", what)
		}
	}
	edit.Old = "func (r *ring) gone() {}\n"
	_, err = tree.Sources(&mutation.Mutant{Name: "stale", Edits: []mutation.Edit{edit}})
	if !errors.As(err, new(*mutation.StaleError)) {
		t.Errorf("a mutant that does not fit: %v, want a StaleError", err)
	}
}
