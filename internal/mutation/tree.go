package mutation

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informersim/informersim/bubble/overlay"
)

// modulePath is the module whose clone a Tree is.
const modulePath = "github.com/informersim/informersim"

// A target is a program that mutants are built into.
type target struct {
	// module is the folder of its module, and mutants that of its mutants, both from the root of the clone.
	module, mutants string
	// pkg is its package; test says that it is the test of it.
	pkg  string
	test bool
	// changed are the modules of the module cache that mutants may change.
	changed []string
	// beside is the program for mutants of what this one does not link; nil for none.
	beside *target
}

// explored is the driver that explores the stack, client-go and the fake server, and requested the one that asks the fake server's REST API, which the first does not link.
var (
	explored  = target{module: ".", mutants: "properties/mutants", pkg: "./internal/mutation/driver", changed: []string{clientGo}, beside: &requested}
	requested = target{module: ".", mutants: "properties/mutants", pkg: "./internal/mutation/requests"}
)

// Tree is the source that mutants change: a clone of this module, and copies of modules as they are in the module cache, or in the folders by which the clone replaces them.
//
// The go command refuses an overlay of the module cache itself, so a file like go.mod replaces a module by its copy. The copies lie
// in folders that stay, because the go command names packages in its build cache by their folders.
type Tree struct {
	root    string // of the clone
	dir     string // for the copies, and for what is built
	target  target
	copies  []*copied
	linked  map[string]bool // the folders of the packages that the program links
	modfile string
	// toolchain takes an overlay of its own sources, too.
	toolchain *overlay.Toolchain
	// base are edits that are part of every program.
	base []*Mutant
	// unchanged are the programs without an active mutant, once there are any: without and with goroutines interleaved.
	unchanged [2]string
}

// OpenTree prepares the clone that the folder from lies in. What it builds is in dir.
func OpenTree(ctx context.Context, from, dir string) (*Tree, error) {
	return openTree(ctx, from, dir, explored)
}

func openTree(ctx context.Context, from, dir string, what target) (*Tree, error) {
	root, err := Root(from)
	if err != nil {
		return nil, err
	}
	if dir, err = filepath.Abs(dir); err != nil {
		return nil, err
	}
	t := &Tree{root: root, dir: dir, target: what, modfile: filepath.Join(dir, "build.mod")}
	if t.toolchain, err = overlay.Ask(ctx, "go", t.folder(), os.Environ()); err != nil {
		return nil, err
	}
	if t.toolchain, err = t.toolchain.Overlaid(filepath.Join(dir, "toolchain")); err != nil {
		return nil, err
	}
	if err := t.copyModules(ctx); err != nil {
		return nil, fmt.Errorf("copying from the module cache to %s: %w", dir, err)
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
func (t *Tree) Mutants() string { return filepath.Join(t.root, filepath.FromSlash(t.target.mutants)) }

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

// place is where a mutant's file is: its source, and where the go command looks for it.
func (t *Tree) place(file string) (source, built string, err error) {
	if !fs.ValidPath(file) {
		return "", "", fmt.Errorf("%q is no path from the root of the module", file)
	}
	for _, c := range t.copies {
		if rest, ok := strings.CutPrefix(file, c.module+"/"); ok {
			rest = filepath.FromSlash(rest)
			return filepath.Join(c.source, rest), filepath.Join(c.dir, rest), nil
		}
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
	// unchanged is the file of the same program without a mutant.
	unchanged string
}

// Build links one program for all mutants that fit into a schema, and one for each of the others. What is not in programs cannot be
// built, and problems says why.
func (t *Tree) Build(ctx context.Context, mutants []*Mutant) (programs map[*Mutant]Program, problems map[*Mutant]error, err error) {
	mutants, besides := t.besides(mutants)
	if len(besides) == 0 {
		return t.build(ctx, mutants)
	}
	other, err := openTree(ctx, t.root, filepath.Join(t.dir, filepath.Base(t.target.beside.pkg)), *t.target.beside)
	if err != nil {
		return nil, nil, err
	}
	if programs, problems, err = other.build(ctx, besides); err != nil || len(mutants) == 0 {
		return programs, problems, err
	}
	here, wrong, err := t.build(ctx, mutants)
	maps.Copy(programs, here)
	maps.Copy(problems, wrong)
	return programs, problems, err
}

// besides takes out the mutants of this module that the program beside this one is for.
func (t *Tree) besides(mutants []*Mutant) (mine, besides []*Mutant) {
	if t.target.beside == nil {
		return mutants, nil
	}
	for _, m := range mutants {
		before, _, err := t.texts(m)
		if err == nil && t.unlinked(before) != "" && !slices.ContainsFunc(m.Files(), t.ofModule) {
			besides = append(besides, m)
		} else {
			mine = append(mine, m)
		}
	}
	return mine, besides
}

// ofModule reports whether a file is of a module that is copied.
func (t *Tree) ofModule(file string) bool {
	return slices.ContainsFunc(t.copies, func(c *copied) bool { return strings.HasPrefix(file, c.module+"/") })
}

func (t *Tree) build(ctx context.Context, mutants []*Mutant) (programs map[*Mutant]Program, problems map[*Mutant]error, err error) {
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
		programs[m] = Program{File: file, interleave: m.Interleave != "", unchanged: t.unchangedOf(m)}
	}
	return programs, problems, nil
}

// unchangedOf is the program of a mutant without it.
func (t *Tree) unchangedOf(m *Mutant) string {
	if m.Interleave != "" {
		return t.unchanged[1]
	}
	return t.unchanged[0]
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
	s := &schema{files: map[string]*schemaFile{}}
	var together []int
	for n, m := range mutants {
		if alone[m] || problems[m] != nil {
			continue
		}
		before, after, err := t.texts(m)
		stray := t.unlinked(before)
		switch {
		case err != nil:
			problems[m] = err
		case stray != "":
			problems[m] = fmt.Errorf("%s changes %s, which no run links: see docs/mutants.md, What no run uses", m.Name, stray)
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
		programs[mutants[n]] = Program{File: file, number: n + 1, interleave: interleave, unchanged: file}
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

// unlinked returns the first file that is of no package which the program links, "" if there is none: a defect there is in no run, so that to survive says
// nothing of it.
func (t *Tree) unlinked(texts map[string]string) string {
	for _, file := range sortedFiles(texts) {
		if !t.linked[realFolder(filepath.Dir(file))] {
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
		var err error
		if replace, err = overlay.Replacements(t.toolchain.Root, filepath.Join(t.dir, "runtime")); err != nil {
			return "", err
		}
	}
	files := sortedFiles(texts)
	for n, built := range files {
		replace[built] = filepath.Join(dir, overlayName(n, built))
		if err := writeFile(replace[built], []byte(texts[built])); err != nil {
			return "", err
		}
	}
	if err := t.addBase(replace, dir, len(files)); err != nil {
		return "", err
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
	args := []string{"build"}
	if t.target.test {
		args = []string{"test", "-c", "-vet=off"}
	}
	_, err = t.goCommand(ctx, append(args, "-modfile="+t.modfile, "-ldflags=-s -w", "-overlay="+list, "-o", program, t.target.pkg)...)
	return program, err
}

// addBase adds the edits that are part of every program to an overlay, which has n files of mutants.
func (t *Tree) addBase(replace map[string]string, dir string, n int) error {
	for _, m := range t.base {
		_, after, err := t.texts(m)
		if err != nil {
			return err
		}
		for _, built := range sortedFiles(after) {
			if replace[built] != "" {
				return fmt.Errorf("a mutant changes %s, which %s changes in every program", built, m.Name)
			}
			replace[built] = filepath.Join(dir, overlayName(n, built))
			n++
			if err := writeFile(replace[built], []byte(after[built])); err != nil {
				return err
			}
		}
	}
	return nil
}

// overlayName is the name of the n-th file of an overlay.
func overlayName(n int, built string) string { return fmt.Sprintf("%d-%s", n, filepath.Base(built)) }

// goCommand runs the go command in the module of the target.
func (t *Tree) goCommand(ctx context.Context, args ...string) ([]byte, error) {
	return t.goCommandIn(ctx, t.folder(), args...)
}

// folder is that of the module whose program is built.
func (t *Tree) folder() string { return filepath.Join(t.root, filepath.FromSlash(t.target.module)) }

func (t *Tree) goCommandIn(ctx context.Context, dir string, args ...string) ([]byte, error) {
	var stderr bytes.Buffer
	cmd := exec.CommandContext(ctx, t.toolchain.Command, args...)
	cmd.Dir, cmd.Env, cmd.Stderr = dir, t.toolchain.Env, &stderr
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
