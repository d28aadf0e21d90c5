package mutation

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/property"
)

// The page with the table of mutants of controllers, and the marks between which it stands there.
const (
	controllersPage   = "docs/wild.md"
	controllersBegin  = "<!-- The table: informersim mutants --controllers --update. -->"
	controllersEnd    = "<!-- End of the table of mutants. -->"
	controllersHead   = "| mutant | what is broken | test | found by | with seed |\n|---|---|---|---|---|\n"
	controllersFormat = "| `%s` | %s | `%s` | %s | %s |\n"

	noHotLoop   = "NoHotLoop" // a property of simtest
	byInvariant = "the test's invariant"
	byNothing   = "nothing"
	byNobody    = "not tried yet" // the row of a new mutant; its file says the same in place of what finds it
)

// found returns what found the mutant, and with which seed.
func (r *Tried) found() (by, seed string) {
	switch {
	case r.Error != "":
		return notTried, ""
	case r.Alone != nil:
		return r.Alone.Property, fmt.Sprint(r.Alone.Seed)
	case r.With != nil:
		return byInvariant, fmt.Sprint(r.With.Seed)
	}
	return byNothing, ""
}

// Detail says what the table leaves open, "" for nothing.
func (r *Tried) Detail() string {
	switch {
	case r.Error != "":
		return r.Error
	case r.Alone != nil && r.Survives != "":
		return "good news: write \"breaks: " + r.Alone.name() + "\" in place of \"survives: " + r.Survives + "\""
	case r.Alone != nil && !slices.Contains(r.Breaks, r.Alone.name()):
		return "its file expects " + strings.Join(r.Breaks, " or ") + "; " + r.Alone.Message
	case r.Alone == nil && r.Survives == "":
		return "nothing but an invariant finds it, and its file expects " + strings.Join(r.Breaks, " or ")
	case r.With != nil:
		return r.With.Property + ": " + r.With.Message
	}
	return ""
}

// name is the property that a mutant's file names for what was found: a process that ends has broken NoPanic, and one that spins NoHotLoop.
func (b *Broken) name() string {
	if b.Property == spins {
		return noHotLoop
	}
	if b.Property == detected || b.Property == ended {
		return property.NoPanic
	}
	return b.Property
}

const controllersRow = "%-40s %-28s %4s  %s\n"

// WriteControllersHead writes the head of the table.
func WriteControllersHead(w io.Writer) error {
	_, err := fmt.Fprintf(w, controllersRow, "MUTANT", "TEST", "SEED", "FOUND BY")
	return err
}

// WriteText writes the mutant's row of the table.
func (r *Tried) WriteText(w io.Writer) error {
	by, seed := r.found()
	_, err := fmt.Fprintf(w, controllersRow, r.Mutant, r.Test, seed, by)
	if detail := r.Detail(); detail != "" && err == nil {
		_, err = fmt.Fprintf(w, "    %s\n", strings.ReplaceAll(detail, "\n", "\n    "))
	}
	return err
}

// controllersSummary counts the rows of the table in a page.
type controllersSummary struct{ all, alone, invariant, untried int }

func (s *controllersSummary) add(by string) {
	switch s.all++; by {
	case byInvariant:
		s.invariant++
	case byNobody, notTried:
		s.untried++
	case byNothing:
	default:
		s.alone++
	}
}

func (s controllersSummary) String() string {
	text := fmt.Sprintf("%d of %s found without an invariant of the test, %d by one, %d not at all", s.alone, reports.Counted(s.all-s.untried, "mutant"), s.invariant, s.all-s.untried-s.alone-s.invariant)
	if s.untried > 0 {
		text += fmt.Sprintf("; not tried: %d", s.untried)
	}
	return text
}

// SummarizeTried says what all results come to, and how many ask for something to be done.
func SummarizeTried(results []*Tried) (text string, failed int) {
	var s controllersSummary
	for _, r := range results {
		by, _ := r.found()
		s.add(by)
		if r.Failed() {
			failed++
		}
	}
	return s.String(), failed
}

// UpdateControllersPage returns a page with the table in it replaced. all are all mutants; of those without a result, the rows stay.
func UpdateControllersPage(page string, trial Trial, all []*Mutant, results []*Tried) (string, error) {
	before, rest, begins := strings.Cut(page, controllersBegin)
	old, after, ends := strings.Cut(rest, controllersEnd)
	if !begins || !ends {
		return "", fmt.Errorf("the page has no lines %q and %q, between which the table belongs", controllersBegin, controllersEnd)
	}
	rows, found := map[string]string{}, map[string]string{}
	searched := fmt.Sprintf("Up to %s each, or as many as its file asks for: ", reports.Counted(trial.Seeds, "seed"))
	for line := range strings.Lines(old) {
		if name, by, ok := controllersRowOf(line); ok {
			rows[name], found[name] = line, by
		}
	}
	if len(results) < len(all) && len(rows) > 0 && !strings.Contains(old, searched) {
		return "", fmt.Errorf("the table is of another number of seeds than %d; search as far as it did, or update all rows", trial.Seeds)
	}
	for _, r := range results {
		by, seed := r.found()
		found[r.Mutant], rows[r.Mutant] = by, fmt.Sprintf(controllersFormat, r.Mutant, cell(r.Defect), r.Test, cell(by), seed)
	}
	var s controllersSummary
	var table strings.Builder
	for _, m := range all {
		if rows[m.Name] == "" && m.Survives == byNobody {
			found[m.Name], rows[m.Name] = byNobody, fmt.Sprintf(controllersFormat, m.Name, cell(m.Defect), m.Test, byNobody, "")
		}
		if rows[m.Name] == "" {
			return "", fmt.Errorf("the table has no row for %s; select it, too", m.Name)
		}
		s.add(found[m.Name])
		table.WriteString(rows[m.Name])
	}
	return before + controllersBegin + "\n" + searched + s.String() + ".\n\n" + survivorsOf(all) + controllersHead + table.String() + controllersEnd + after, nil
}

// controllersRowOf reads a line of the table.
func controllersRowOf(line string) (name, by string, ok bool) {
	cells := strings.Split(line, " | ")
	if len(cells) != 5 || !strings.HasPrefix(line, "| `") {
		return "", "", false
	}
	return strings.Trim(cells[0], "|` "), strings.TrimSpace(cells[3]), true
}

// survivorsOf says why no property finds some of the mutants, by the reasons that their files give.
func survivorsOf(all []*Mutant) string {
	var known reasons
	for _, m := range all {
		if m.Survives != "" && m.Survives != byNobody {
			known.add(m.Survives, m.Name)
		}
	}
	var b strings.Builder
	known.write(&b, "No ready-made property finds ")
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// UpdateControllersDocs writes the table of the page, or the rows of some of the mutants.
func (t *Tree) UpdateControllersDocs(trial Trial, all []*Mutant, results []*Tried) error {
	name, text, err := t.updatedControllersDocs(trial, all, results)
	if err != nil {
		return err
	}
	return writeFile(name, []byte(text))
}

// CheckControllersDocs reports why the rows of these mutants cannot be written, before time is spent on them.
func (t *Tree) CheckControllersDocs(trial Trial, all, selected []*Mutant) error {
	var rows []*Tried
	for _, m := range selected {
		rows = append(rows, &Tried{Mutant: m.Name})
	}
	_, _, err := t.updatedControllersDocs(trial, all, rows)
	return err
}

func (t *Tree) updatedControllersDocs(trial Trial, all []*Mutant, results []*Tried) (name, text string, err error) {
	name = filepath.Join(t.root, filepath.FromSlash(controllersPage))
	page, err := os.ReadFile(name)
	if err != nil {
		return "", "", err
	}
	if text, err = UpdateControllersPage(string(page), trial, all, results); err != nil {
		return "", "", fmt.Errorf("%s: %w", name, err)
	}
	return name, text, nil
}
