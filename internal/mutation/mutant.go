package mutation

import (
	"errors"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// clientGo is the module from the module cache that mutants may change; everything else that they change is in this module.
const clientGo = "k8s.io/client-go"

// A Mutant is a defect, as edits of source files.
//
// Its file, NAME.txtar, begins with a sentence or two that say what is broken, and then, each on a line of its own:
//
//	breaks: PROPERTY, …   the properties that should break, the likeliest first
//	bug: k115658          the historical bug of docs/spec/bugs.md that it puts back, if any
//	subject: client-go    the subject that shows it, if its files do not tell
//	interleave: WHY       it needs client-go's goroutines interleaved within a step, and why
//	survives: WHY         why nothing kills it yet; it is an error if something does
//
// A file that mends what upstream has not mended yet says "mends: PROPERTY, …" instead of what breaks.
//
// One that breaks a released controller names what runs it:
//
//	test: TestDeployment  the test of wild/kubernetes that runs the controller
//	seeds: 80             how many runs it is given at least, if few of them meet it
//
// It breaks ready-made properties (simtest.WellBehaved), or survives; then it need not say what it breaks.
//
// Edits follow, pairs of sections of whole lines, the old ones and the new ones:
//
//	-- old informer/delta_fifo.go --
//	-- new informer/delta_fifo.go --
//
// A path is from the root of this module, or begins with k8s.io/client-go; a controller's begins with k8s.io/kubernetes or k8s.io/endpointslice.
type Mutant struct {
	Name string
	// Defect says what is broken.
	Defect  string
	Breaks  []string
	Bug     string
	Subject string
	// Test is what runs a mutant of a controller, "" for any other mutant.
	Test string
	// Seeds is how many runs that test makes at least.
	Seeds int
	// Mends means that it mends a defect instead: Breaks are the properties that hold with it.
	Mends bool
	// Interleave says why its runs interleave client-go's goroutines, for which it is built with the overlay of Go's runtime; "" if they do not.
	Interleave string
	// Survives says why nothing kills it, "" if something should.
	Survives string
	Edits    []Edit
}

// An Edit replaces lines of a file.
type Edit struct {
	File     string
	Old, New string
}

// The subjects of package kinds, by what a mutant changes.
const (
	subjectStack    = "stack"
	subjectClientGo = "client-go"
)

var (
	section      = regexp.MustCompile(`^-- (old|new) (\S+) --$`)
	propertyName = regexp.MustCompile(`^[A-Z][A-Za-z]+$`)
	testName     = regexp.MustCompile(`^Test[A-Z][A-Za-z0-9]*$`)
)

// Parse reads a mutant.
func Parse(name, text string) (*Mutant, error) {
	m := &Mutant{Name: name}
	lines := strings.SplitAfter(strings.ReplaceAll(text, "\r\n", "\n"), "\n") // a checkout may have changed the ends of lines
	n := slices.IndexFunc(lines, isSection)
	if n < 0 {
		return nil, fmt.Errorf("%s: it has no edits: add the sections \"-- old FILE --\" and \"-- new FILE --\"", name)
	}
	if err := m.parseHeader(lines[:n]); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if err := m.parseEdits(lines[n:]); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	switch {
	case m.Test != "" && (m.Subject != "" || m.Interleave != "" || m.Mends):
		return nil, fmt.Errorf("%s: the test %s runs a released controller as it is: delete the line \"subject: …\", \"interleave: …\" or \"mends: …\"", name, m.Test)
	case m.Test == "" && m.Seeds > 0:
		return nil, fmt.Errorf("%s: only a test of a controller has a number of seeds of its own: delete the line \"seeds: …\"", name)
	case m.Test == "" && m.Subject == "":
		m.Subject = m.defaultSubject()
	}
	if m.Interleave != "" && m.Subject != subjectClientGo {
		return nil, fmt.Errorf("%s: the subject %s has no goroutines to interleave: delete the line \"interleave: …\"", name, m.Subject)
	}
	return m, nil
}

func isSection(line string) bool { return section.MatchString(strings.TrimSuffix(line, "\n")) }

func (m *Mutant) parseHeader(lines []string) error {
	var defect []string
	for _, line := range lines {
		line = strings.TrimSpace(line)
		key, value, found := strings.Cut(line, ": ")
		switch {
		case found && (key == "breaks" || key == "mends"):
			m.Breaks, m.Mends = strings.Split(value, ", "), key == "mends"
		case found && key == "bug":
			m.Bug = value
		case found && key == "subject":
			m.Subject = value
		case found && key == "test":
			m.Test = value
		case found && key == "seeds":
			n, err := strconv.Atoi(value)
			if err != nil || n < 1 {
				return fmt.Errorf("%q is no number of seeds", value)
			}
			m.Seeds = n
		case found && key == "interleave":
			m.Interleave = value
		case found && key == "survives":
			m.Survives = value
		case line != "":
			defect = append(defect, line)
		}
	}
	m.Defect = strings.Join(defect, " ")
	if m.Defect == "" {
		return errors.New("its header does not say what is broken")
	}
	if m.Test != "" && !testName.MatchString(m.Test) {
		return fmt.Errorf("%q is no name of a test", m.Test)
	}
	if len(m.Breaks) == 0 && (m.Test == "" || m.Survives == "") {
		return errors.New("its header does not say which property should break: add a line \"breaks: PROPERTY\"")
	}
	for _, p := range m.Breaks {
		if !propertyName.MatchString(p) {
			return fmt.Errorf("%q is no name of a property", p)
		}
	}
	return nil
}

func (m *Mutant) parseEdits(lines []string) error {
	for len(lines) > 0 {
		before, after, rest, err := pair(lines)
		if err != nil {
			return err
		}
		if before.text == after.text {
			return fmt.Errorf("an edit of %s changes nothing", before.file)
		}
		if before.text == "" {
			return fmt.Errorf("an edit of %s has no old lines", before.file)
		}
		m.Edits = append(m.Edits, Edit{File: before.file, Old: before.text, New: after.text})
		lines = rest
	}
	return nil
}

type part struct{ kind, file, text string }

// pair cuts an old and a new section off.
func pair(lines []string) (before, after part, rest []string, err error) {
	before, lines = cutSection(lines)
	if len(lines) == 0 {
		return before, after, nil, fmt.Errorf("the last edit, of %s, has only one section", before.file)
	}
	after, lines = cutSection(lines)
	if before.kind != "old" || after.kind != "new" || before.file != after.file {
		return before, after, nil, fmt.Errorf("section \"%s %s\" is followed by \"%s %s\"; an edit is an old and a new section of one file",
			before.kind, before.file, after.kind, after.file)
	}
	return before, after, lines, nil
}

func cutSection(lines []string) (p part, rest []string) {
	head := section.FindStringSubmatch(strings.TrimSuffix(lines[0], "\n"))
	p.kind, p.file = head[1], head[2]
	n := slices.IndexFunc(lines[1:], isSection)
	if n < 0 {
		n = len(lines) - 1
	}
	p.text = strings.Join(lines[1:n+1], "")
	return p, lines[n+1:]
}

func (m *Mutant) defaultSubject() string {
	for _, e := range m.Edits {
		if strings.HasPrefix(e.File, clientGo+"/") || strings.HasPrefix(e.File, "subjects/clientgo/") {
			return subjectClientGo
		}
	}
	return subjectStack
}

// Load returns the mutants of a folder, in the order of their names.
func Load(folder fs.FS) ([]*Mutant, error) {
	files, err := fs.Glob(folder, "*.txtar")
	if err != nil {
		return nil, err
	}
	slices.Sort(files)
	var all []*Mutant
	for _, file := range files {
		text, err := fs.ReadFile(folder, file)
		if err != nil {
			return nil, err
		}
		m, err := Parse(strings.TrimSuffix(path.Base(file), ".txtar"), string(text))
		if err != nil {
			return nil, err
		}
		all = append(all, m)
	}
	return all, nil
}

// Matches reports whether a mutant is meant by a pattern: one that occurs in its name, its subject, its test, its bug or the names of its
// files; an empty one means all.
func (m *Mutant) Matches(pattern string) bool {
	if strings.Contains(m.Name, pattern) || m.Subject == pattern || m.Test == pattern || m.Bug == pattern {
		return true
	}
	return slices.ContainsFunc(m.Edits, func(e Edit) bool { return strings.HasPrefix(e.File, pattern) })
}

// Files returns the files that it changes, each once.
func (m *Mutant) Files() []string {
	var files []string
	for _, e := range m.Edits {
		if !slices.Contains(files, e.File) {
			files = append(files, e.File)
		}
	}
	return files
}

// A StaleError means that a mutant no longer fits the source.
type StaleError struct {
	Mutant, File string
	Matches      int
	Old          string
	// NoFile says that the file is not there.
	NoFile bool
}

func (e *StaleError) Error() string {
	first, _, _ := strings.Cut(strings.TrimSpace(e.Old), "\n")
	if e.NoFile {
		return fmt.Sprintf("%s is stale: there is no file %s; a path is from the root of the clone, or begins with a module that may be changed, such as %s/", e.Mutant, e.File, clientGo)
	}
	if e.Matches > 1 {
		return fmt.Sprintf("%s is stale: its old lines (%q …) are in %s %d times; add lines until they are there once", e.Mutant, first, e.File, e.Matches)
	}
	return fmt.Sprintf("%s is stale: its old lines (%q …) are not in %s; write it anew for the source as it is now, or delete it", e.Mutant, first, e.File)
}

// Apply returns the mutated text of one of its files.
func (m *Mutant) Apply(file, text string) (string, error) {
	for _, e := range m.Edits {
		if e.File != file {
			continue
		}
		// Lines, not parts of lines: an edit that matches the end of another line would be one of chance.
		whole := "\n" + text
		if n := strings.Count(whole, "\n"+e.Old); n != 1 {
			return "", &StaleError{Mutant: m.Name, File: file, Matches: n, Old: e.Old}
		}
		text = strings.Replace(whole, "\n"+e.Old, "\n"+e.New, 1)[1:]
	}
	return text, nil
}
