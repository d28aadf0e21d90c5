package mutation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informersim/informersim/bubble/overlay"
)

// modulePath is the module whose clone a Tree is.
const modulePath = "github.com/informersim/informersim"

// driverPackage is the program that explores a mutant.
const driverPackage = "./internal/mutation/driver"

// Tree is the source that mutants change: a clone of this module, and a copy of client-go as it is in the module cache, or in the folder by which the clone replaces it.
//
// The go command refuses an overlay of the module cache itself, so a file like go.mod replaces the module by the copy. The copy lies
// in a folder that stays, because the go command names packages in its build cache by their folders.
type Tree struct {
	root     string // of the clone
	dir      string // for the copy, and for what is built
	clientGo string // the copy
	module   string // what it is a copy of
	modfile  string
	// unchanged are the programs without an active mutant, once there are any: without and with goroutines interleaved.
	unchanged [2]string
}

// OpenTree prepares the clone that the folder from lies in. What it builds is in dir.
func OpenTree(ctx context.Context, from, dir string) (*Tree, error) {
	root, err := Root(from)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	t := &Tree{root: root, dir: dir, clientGo: filepath.Join(dir, "client-go"), modfile: filepath.Join(dir, "build.mod")}
	if err := t.copyClientGo(ctx); err != nil {
		return nil, fmt.Errorf("copying %s from the module cache to %s: %w", clientGo, t.clientGo, err)
	}
	if err := t.writeModfile(ctx); err != nil {
		return nil, err
	}
	return t, nil
}

// Root returns the root of the clone that a folder lies in.
func Root(from string) (string, error) {
	start, err := filepath.Abs(from)
	if err != nil {
		return "", err
	}
	for dir := start; ; dir = filepath.Dir(dir) {
		text, err := os.ReadFile(filepath.Join(dir, "go.mod"))
		if err == nil && bytes.HasPrefix(text, []byte("module "+modulePath+"\n")) {
			return dir, nil
		}
		if dir == filepath.Dir(dir) {
			return "", fmt.Errorf("%s is not in a clone of %s, whose source this needs: change to a clone's folder first", start, modulePath)
		}
	}
}

// Mutants returns the folder with the mutants of the clone.
func (t *Tree) Mutants() string { return filepath.Join(t.root, "properties", "mutants") }

// CheckProperties refuses mutants that should break what is no property.
func (t *Tree) CheckProperties(mutants []*Mutant) error {
	const page = "docs/spec/properties.md"
	text, err := os.ReadFile(filepath.Join(t.root, filepath.FromSlash(page)))
	if err != nil {
		return err
	}
	for _, m := range mutants {
		for _, name := range m.Breaks {
			if !bytes.Contains(text, []byte(`<a id="`+name+`">`)) {
				return fmt.Errorf("%s: its header names the property %s, and %s has none of that name", m.Name, name, page)
			}
		}
	}
	return nil
}

// copyClientGo copies the packages of client-go that the driver links.
func (t *Tree) copyClientGo(ctx context.Context) error {
	type pkg struct {
		Dir, ImportPath string
		Module          *struct{ Path, Dir string }
	}
	out, err := t.goCommand(ctx, "list", "-deps", "-json=Dir,ImportPath,Module", driverPackage)
	if err != nil {
		return err
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var p pkg
		if err := dec.Decode(&p); err != nil {
			return err
		}
		if p.Module == nil || p.Module.Path != clientGo {
			continue
		}
		t.module = p.Module.Dir
		to := filepath.Join(t.clientGo, strings.TrimPrefix(p.ImportPath, clientGo))
		if err := mirror(p.Dir, to); err != nil {
			return err
		}
	}
	if t.module == "" {
		return errors.New("the driver does not link it")
	}
	return copyFile(filepath.Join(t.module, "go.mod"), filepath.Join(t.clientGo, "go.mod"))
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

// writeModfile writes the go.mod with which the copy replaces client-go, or what the clone's own replaces it by.
func (t *Tree) writeModfile(ctx context.Context) error {
	text, err := t.goCommand(ctx, "mod", "edit", "-print", "-replace="+clientGo+"="+t.clientGo, "go.mod")
	if err != nil {
		return err
	}
	if err := writeFile(t.modfile, text); err != nil {
		return err
	}
	return copyFile(filepath.Join(t.root, "go.sum"), strings.TrimSuffix(t.modfile, ".mod")+".sum")
}

// place is where a mutant's file is: its source, and where the go command looks for it.
func (t *Tree) place(file string) (source, built string, err error) {
	if !fs.ValidPath(file) {
		return "", "", fmt.Errorf("%q is no path from the root of the module", file)
	}
	if rest, ok := strings.CutPrefix(file, clientGo+"/"); ok {
		rest = filepath.FromSlash(rest)
		return filepath.Join(t.module, rest), filepath.Join(t.clientGo, rest), nil
	}
	name := filepath.Join(t.root, filepath.FromSlash(file))
	return name, name, nil
}

// Sources returns the mutated texts of the files of a mutant, by where their source is: in the clone or in the module cache. A mutant
// that does not fit is a *StaleError.
func (t *Tree) Sources(m *Mutant) (map[string][]byte, error) {
	texts := map[string][]byte{}
	for _, file := range m.Files() {
		source, _, err := t.place(file)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		text, err := os.ReadFile(source)
		if errors.Is(err, fs.ErrNotExist) {
			return nil, &StaleError{Mutant: m.Name, File: file, NoFile: true}
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", m.Name, err)
		}
		changed, err := m.Apply(file, string(text))
		if err != nil {
			return nil, err
		}
		texts[source] = []byte(changed)
	}
	return texts, nil
}

// A Program is a driver with a mutant in it.
type Program struct {
	File string
	// number chooses the mutant of a schema; 0 for none.
	number int
	// interleave says that its runs interleave goroutines.
	interleave bool
}

// Build links one program for all mutants that fit into a schema, and one for each of the others. What is not in programs cannot be
// built, and problems says why.
func (t *Tree) Build(ctx context.Context, mutants []*Mutant) (programs map[*Mutant]Program, problems map[*Mutant]error, err error) {
	programs, problems = map[*Mutant]Program{}, map[*Mutant]error{}
	alone := map[*Mutant]bool{}
	plain, interleaved := apart(mutants)
	for t.unchanged[0] == "" && (len(plain) > 0 || len(interleaved) == 0) {
		if err := t.buildSchema(ctx, plain, alone, programs, problems); err != nil {
			return nil, nil, err
		}
	}
	for t.unchanged[1] == "" && len(interleaved) > 0 {
		if err := t.buildSchema(ctx, interleaved, alone, programs, problems); err != nil {
			return nil, nil, err
		}
	}
	for _, m := range mutants {
		if !alone[m] {
			continue
		}
		_, after, err := t.texts(m)
		if err != nil {
			return nil, nil, err
		}
		file, err := t.link(ctx, m.Name, after, m.Interleave != "")
		if ctx.Err() != nil {
			return nil, nil, ctx.Err()
		}
		if err != nil {
			problems[m] = fmt.Errorf("%s does not compile: %w", m.Name, err)
			continue
		}
		programs[m] = Program{File: file, interleave: m.Interleave != ""}
	}
	return programs, problems, nil
}

// apart returns the mutants whose runs do not interleave goroutines, and those whose runs do.
func apart(mutants []*Mutant) (plain, interleaved []*Mutant) {
	for _, m := range mutants {
		if m.Interleave != "" {
			interleaved = append(interleaved, m)
		} else {
			plain = append(plain, m)
		}
	}
	return plain, interleaved
}

// buildSchema links one program for the mutants that are not alone, all of which interleave goroutines or none. Those that do not fit, or do not compile, are alone from then on;
// it sets t.unchanged of their kind if the others are built.
func (t *Tree) buildSchema(ctx context.Context, mutants []*Mutant, alone map[*Mutant]bool, programs map[*Mutant]Program, problems map[*Mutant]error) error {
	linked, err := t.linked(ctx)
	if err != nil {
		return err
	}
	s := &schema{files: map[string]*schemaFile{}}
	var together []int
	for n, m := range mutants {
		if alone[m] || problems[m] != nil {
			continue
		}
		before, after, err := t.texts(m)
		switch {
		case err != nil:
			problems[m] = err
		case unlinked(before, linked) != "":
			problems[m] = fmt.Errorf("%s changes %s, which no run links: see docs/mutants.md, What no run uses", m.Name, unlinked(before, linked))
		case s.add(n+1, before, after):
			together = append(together, n)
		default:
			alone[m] = true
		}
	}
	texts, name, kind := s.texts(), "all", 0
	interleave := len(mutants) > 0 && mutants[0].Interleave != ""
	if interleave {
		name, kind = "all-interleaved", 1
	}
	file, err := t.link(ctx, name, texts, interleave)
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case err != nil && len(together) == 0:
		return fmt.Errorf("the program does not compile without a mutant: %w", err)
	case err != nil:
		culprits := inMessage(texts, err.Error())
		for _, n := range together {
			if len(culprits) == 0 || slices.Contains(culprits, n+1) {
				alone[mutants[n]] = true
			}
		}
		return nil
	}
	t.unchanged[kind] = file
	for _, n := range together {
		programs[mutants[n]] = Program{File: file, number: n + 1, interleave: interleave}
	}
	return nil
}

// texts returns the texts of a mutant's files, before and after, by where the go command looks for them.
func (t *Tree) texts(m *Mutant) (before, after map[string]string, err error) {
	mutated, err := t.Sources(m)
	if err != nil {
		return nil, nil, err
	}
	before, after = map[string]string{}, map[string]string{}
	for _, file := range m.Files() {
		source, built, err := t.place(file)
		if err != nil {
			return nil, nil, err
		}
		text, err := os.ReadFile(source)
		if err != nil {
			return nil, nil, err
		}
		before[built], after[built] = string(text), string(mutated[source])
	}
	return before, after, nil
}

// linked returns the folders of the packages that the driver links.
func (t *Tree) linked(ctx context.Context) (map[string]bool, error) {
	out, err := t.goCommand(ctx, "list", "-modfile="+t.modfile, "-deps", "-f", "{{.Dir}}", driverPackage)
	if err != nil {
		return nil, err
	}
	dirs := map[string]bool{}
	for dir := range strings.Lines(string(out)) {
		dirs[realFolder(strings.TrimSpace(dir))] = true
	}
	return dirs, nil
}

// unlinked returns the first file that is of no package which the driver links, "" if there is none: a defect there is in no run, so that to survive says
// nothing of it.
func unlinked(texts map[string]string, linked map[string]bool) string {
	for _, file := range sortedFiles(texts) {
		if !linked[realFolder(filepath.Dir(file))] {
			return file
		}
	}
	return ""
}

// realFolder is a folder's path without symbolic links, as far as it can be told.
func realFolder(dir string) string {
	if real, err := filepath.EvalSymlinks(dir); err == nil {
		return real
	}
	return filepath.Clean(dir)
}

// link builds the driver with other texts of some files, and returns the program's file. To interleave goroutines, it takes the overlay of Go's
// runtime, too.
func (t *Tree) link(ctx context.Context, name string, texts map[string]string, interleave bool) (string, error) {
	dir := filepath.Join(t.dir, "overlays", name)
	replace := map[string]string{}
	if interleave {
		goroot, err := t.goCommand(ctx, "env", "GOROOT")
		if err != nil {
			return "", err
		}
		if replace, err = overlay.Replacements(string(bytes.TrimSpace(goroot)), filepath.Join(t.dir, "runtime")); err != nil {
			return "", err
		}
	}
	for n, built := range sortedFiles(texts) {
		replace[built] = filepath.Join(dir, overlayName(n, built))
		if err := writeFile(replace[built], []byte(texts[built])); err != nil {
			return "", err
		}
	}
	text, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		return "", err
	}
	list := filepath.Join(dir, "overlay.json")
	if err := writeFile(list, text); err != nil {
		return "", err
	}
	program := filepath.Join(t.dir, "bin", name)
	_, err = t.goCommand(ctx, "build", "-modfile="+t.modfile, "-ldflags=-s -w", "-overlay="+list, "-o", program, driverPackage)
	return program, err
}

// overlayName is the name of the n-th file of an overlay.
func overlayName(n int, built string) string { return fmt.Sprintf("%d-%s", n, filepath.Base(built)) }

// goCommand runs the go command in the clone.
func (t *Tree) goCommand(ctx context.Context, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, "go", args...)
	cmd.Dir, cmd.Stderr = t.root, &stderr
	out, err := cmd.Output()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if err != nil {
		return nil, fmt.Errorf("go %s: %w\n%s", args[0], err, bytes.TrimSpace(stderr.Bytes()))
	}
	return out, nil
}

// UpdateDocs writes the table of docs/mutants.md, or the rows of some of the mutants.
func (t *Tree) UpdateDocs(s Search, all []string, results []*Result) error {
	name, text, err := t.updatedDocs(s, all, results)
	if err != nil {
		return err
	}
	return writeFile(name, []byte(text))
}

// CheckDocs reports why the rows of these mutants cannot be written, before time is spent on them.
func (t *Tree) CheckDocs(s Search, all []string, selected []*Mutant) error {
	var rows []*Result
	for _, m := range selected {
		rows = append(rows, &Result{Mutant: m.Name})
	}
	_, _, err := t.updatedDocs(s, all, rows)
	return err
}

func (t *Tree) updatedDocs(s Search, all []string, results []*Result) (name, text string, err error) {
	name = filepath.Join(t.root, "docs", "mutants.md")
	page, err := os.ReadFile(name)
	if err != nil {
		return "", "", err
	}
	if text, err = UpdatePage(string(page), s, all, results); err != nil {
		return "", "", fmt.Errorf("%s: %w", name, err)
	}
	return name, text, nil
}
