package mutation

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// copied is a module of the module cache that mutants may change.
type copied struct {
	module string
	source string // where it is
	dir    string // the copy
}

// copyModules copies the packages that the target links of the modules that mutants may change, and notes where all are that it links.
func (t *Tree) copyModules(ctx context.Context) error {
	type pkg struct {
		Dir, ImportPath string
		Module          *struct{ Path, Dir string }
	}
	args := []string{"list", "-deps", "-json=Dir,ImportPath,Module"}
	if t.target.test {
		args = append(args, "-test")
	}
	out, err := t.goCommand(ctx, append(args, t.target.pkg)...)
	if err != nil {
		return err
	}
	for _, module := range t.target.changed {
		t.copies = append(t.copies, &copied{module: module, dir: filepath.Join(t.dir, path.Base(module))})
	}
	t.linked = map[string]bool{}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			return err
		}
		n := slices.IndexFunc(t.copies, func(c *copied) bool { return p.Module != nil && p.Module.Path == c.module })
		if n < 0 {
			t.linked[realFolder(p.Dir)] = true
			continue
		}
		c := t.copies[n]
		c.source = p.Module.Dir
		to := filepath.Join(c.dir, filepath.FromSlash(strings.TrimPrefix(p.ImportPath, c.module)))
		if err := mirror(p.Dir, to); err != nil {
			return err
		}
		t.linked[realFolder(to)] = true
	}
	for _, c := range t.copies {
		if c.source == "" {
			return fmt.Errorf("%s in %s does not link %s", t.target.pkg, t.target.module, c.module)
		}
		if err := copyFile(filepath.Join(c.source, "go.mod"), filepath.Join(c.dir, "go.mod")); err != nil {
			return err
		}
	}
	return nil
}

// mirror makes a folder the copy of a package's, without its tests.
func mirror(from, to string) error {
	if err := os.MkdirAll(to, 0o755); err != nil {
		return err
	}
	files, err := os.ReadDir(from)
	if err != nil {
		return err
	}
	var copied []string
	for _, f := range files {
		if f.Type().IsRegular() && strings.HasSuffix(f.Name(), ".go") && !strings.HasSuffix(f.Name(), "_test.go") {
			copied = append(copied, f.Name())
			if err := copyFile(filepath.Join(from, f.Name()), filepath.Join(to, f.Name())); err != nil {
				return err
			}
		}
	}
	have, err := os.ReadDir(to)
	if err != nil {
		return err
	}
	for _, f := range have {
		if strings.HasSuffix(f.Name(), ".go") && !slices.Contains(copied, f.Name()) {
			if err := os.Remove(filepath.Join(to, f.Name())); err != nil { // of another version
				return err
			}
		}
	}
	return nil
}

// copyFile leaves a file alone that is right already, so that the go command need not read it again.
func copyFile(from, to string) error {
	text, err := os.ReadFile(from)
	if err != nil {
		return err
	}
	return writeFile(to, text)
}

func writeFile(name string, text []byte) error {
	if have, err := os.ReadFile(name); err == nil && bytes.Equal(have, text) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	return os.WriteFile(name, text, 0o644)
}

// writeModfile writes the go.mod with which the copies replace their modules, or what the clone's own replaces these by.
func (t *Tree) writeModfile(ctx context.Context) error {
	args := []string{"mod", "edit", "-print"}
	for _, c := range t.copies {
		args = append(args, "-replace="+c.module+"="+c.dir)
	}
	text, err := t.goCommand(ctx, append(args, "go.mod")...)
	if err != nil {
		return err
	}
	if err := writeFile(t.modfile, text); err != nil {
		return err
	}
	return copyFile(filepath.Join(t.folder(), "go.sum"), strings.TrimSuffix(t.modfile, ".mod")+".sum")
}
