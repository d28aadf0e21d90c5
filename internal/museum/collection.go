package museum

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/informersim/informersim/internal/mutation"
)

// A Piece is a bug with its exhibit, or with the reason why it has none.
type Piece struct {
	Bug     Bug
	Exhibit *Exhibit
	Gap     *Gap
	// Edits are what puts the bug back, or what mends it; nil for neither.
	Edits *mutation.Mutant
	// Others are further mutants that put the same bug back elsewhere: in our stack, for one of client-go.
	Others []string
}

// Collection returns the pieces of a clone, in the order of docs/spec/bugs.md.
func Collection(root string) ([]*Piece, error) {
	bugs, err := LoadBugs(root)
	if err != nil {
		return nil, err
	}
	folder := filepath.Join(root, "properties", "mutants")
	mutants, err := mutation.Load(os.DirFS(folder))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", folder, err)
	}
	mends, err := mutation.Load(os.DirFS(filepath.Join(folder, "mends")))
	if err != nil {
		return nil, fmt.Errorf("%s/mends: %w", folder, err)
	}
	return collect(bugs, mutants, mends, Exhibits(), Gaps())
}

func collect(bugs []Bug, mutants, mends []*mutation.Mutant, exhibits []Exhibit, gaps []Gap) ([]*Piece, error) {
	var pieces []*Piece
	for _, b := range bugs {
		p := &Piece{Bug: b}
		if n := slices.IndexFunc(exhibits, func(e Exhibit) bool { return e.Bug == b.ID() }); n >= 0 {
			p.Exhibit = &exhibits[n]
		}
		if n := slices.IndexFunc(gaps, func(g Gap) bool { return g.Bug == b.ID() }); n >= 0 {
			p.Gap = &gaps[n]
		}
		if (p.Exhibit == nil) == (p.Gap == nil) {
			return nil, fmt.Errorf("%s needs an exhibit, or a reason why it has none: exactly one, in internal/museum/exhibits.go", b.ID())
		}
		if err := p.find(mutants, mends); err != nil {
			return nil, err
		}
		pieces = append(pieces, p)
	}
	if len(pieces) != len(exhibits)+len(gaps) {
		return nil, fmt.Errorf("docs/spec/bugs.md has %d bugs, and internal/museum/exhibits.go has %d rows", len(pieces), len(exhibits)+len(gaps))
	}
	return pieces, nil
}

// find looks up the exhibit's edits.
func (p *Piece) find(mutants, mends []*mutation.Mutant) error {
	if p.Exhibit == nil {
		return nil
	}
	name, among := p.Exhibit.Mutant, mutants
	if p.Exhibit.Mend != "" {
		name, among = p.Exhibit.Mend, mends
	}
	for _, m := range among {
		switch {
		case m.Name == name:
			p.Edits = m
		case slices.Contains(p.Bug.IDs, m.Bug):
			p.Others = append(p.Others, m.Name)
		}
	}
	switch {
	case name == "" && p.Exhibit.Remedy == "":
		return fmt.Errorf("the exhibit %s needs a mutant, a mend or a remedy: otherwise both of its sides are the same", p.Bug.ID())
	case name == "":
	case p.Edits == nil:
		return fmt.Errorf("the exhibit %s names %s, which properties/mutants does not have", p.Bug.ID(), name)
	case !slices.Contains(p.Bug.IDs, p.Edits.Bug):
		return fmt.Errorf("%s does not say that it is about the bug: add the line \"bug: %s\"", name, p.Bug.ID())
	case p.Edits.Mends != (p.Exhibit.Mend != ""):
		return fmt.Errorf("%s is not what the exhibit %s takes it for: a mutant has the line \"breaks:\", a mend the line \"mends:\"", name, p.Bug.ID())
	}
	return nil
}

// Select returns the pieces that patterns, parts of names, mean; all without one.
func Select(pieces []*Piece, patterns []string) ([]*Piece, error) {
	for _, pattern := range patterns {
		if !slices.ContainsFunc(pieces, func(p *Piece) bool { return p.Bug.matches(pattern) }) {
			return nil, fmt.Errorf("of the %d bugs in docs/spec/bugs.md none is meant by %q; a pattern is a part of a name, such as k115658", len(pieces), pattern)
		}
	}
	return slices.DeleteFunc(slices.Clone(pieces), func(p *Piece) bool {
		return len(patterns) > 0 && !slices.ContainsFunc(patterns, p.Bug.matches)
	}), nil
}

// Subject is the stack that the exhibit is played on: unmodified client-go, unless the bug is in our own.
func (p *Piece) Subject() string {
	if p.Edits != nil && slices.ContainsFunc(p.Edits.Files(), func(file string) bool { return strings.HasPrefix(file, "informer/") }) {
		return "stack"
	}
	return "client-go"
}

// Where says what has the bug.
func (p *Piece) Where() string {
	if p.Exhibit.Mutant == "" {
		return "client-go as it is"
	}
	var parts []string
	for _, file := range p.Edits.Files() {
		part := "our stack"
		switch {
		case strings.HasPrefix(file, "k8s.io/client-go/"):
			part = "client-go"
		case strings.HasPrefix(file, "fakeapiserver/"):
			part = "the server"
		case strings.HasPrefix(file, "subjects/"):
			part = "a handler"
		}
		if !slices.Contains(parts, part) {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, " and ")
}

// scenarioFile is a scenario's file, from the root of the clone.
func scenarioFile(name string) string { return "scenarios/testdata/" + name + ".sim" }

// right is the scenario of the right side.
func (e *Exhibit) right() string {
	if e.Remedy != "" {
		return e.Remedy
	}
	return e.Scenario
}
