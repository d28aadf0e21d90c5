package museum

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/informersim/informersim/internal/mutation"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/reports"
)

// A Verdict is what became of a piece. Its fields are those of a line of `informersim museum --json`.
type Verdict struct {
	Bug      string   `json:"bug"`
	IDs      []string `json:"ids"`
	Years    string   `json:"years"`
	Open     bool     `json:"open,omitempty"`
	Text     string   `json:"text"`
	Property string   `json:"property,omitempty"`
	// Broken is the run with the bug, Right the one without it; nil if the bug is no exhibit.
	Broken *Side `json:"broken,omitempty"`
	Right  *Side `json:"right,omitempty"`
	// Why says why the bug is no exhibit, and See what shows something of it all the same.
	Why string `json:"whyNot,omitempty"`
	See string `json:"see,omitempty"`
	// Command shows the piece, Report is the address of the report.
	Command string `json:"command"`
	Report  string `json:"report"`
	// Problem says what is not right; "" for nothing.
	Problem string `json:"problem,omitempty"`

	Piece *Piece `json:"-"`
}

// A Side is one of the two runs of an exhibit.
type Side struct {
	Where    string `json:"where"` // what has the bug
	Subject  string `json:"subject"`
	Mutant   string `json:"mutant,omitempty"`
	Scenario string `json:"scenario"` // its file, from the root of the clone
	// Violation is the property that broke, nil if the run passed.
	Violation *reports.Violation `json:"violation,omitempty"`
	Steps     uint64             `json:"steps"`
	Trace     string             `json:"trace,omitempty"`
	Report    string             `json:"report,omitempty"` // the HTML file
}

// A Visit says what to look at.
type Visit struct {
	// Jobs is how many pieces are played at a time.
	Jobs int
	// Traces is the folder for the traces of both runs of each piece; "" for none.
	Traces string
}

// Play plays pieces, and calls report with each verdict, in their order. It returns an error if it could not go on. The program that it
// builds is that of the whole collection, so that another selection finds it built.
func Play(ctx context.Context, tree *mutation.Tree, collection, pieces []*Piece, v Visit, report func(*Verdict) error) error {
	var edits []*mutation.Mutant
	for _, p := range collection {
		if p.Edits != nil {
			edits = append(edits, p.Edits)
		}
	}
	programs, problems, err := tree.Build(ctx, edits)
	if err != nil {
		return err
	}
	return mutation.InOrder(ctx, pieces, v.Jobs, func(ctx context.Context, p *Piece) (*Verdict, error) {
		g := gallery{tree: tree, traces: v.Traces, with: tree.Unchanged()}
		if p.Edits != nil {
			g.with, g.problem = programs[p.Edits], problems[p.Edits]
		}
		return g.show(ctx, p)
	}, report)
}

// gallery plays one piece.
type gallery struct {
	tree    *mutation.Tree
	traces  string
	with    mutation.Program // the one with the piece's edits
	problem error            // why there is none
}

func (g *gallery) show(ctx context.Context, p *Piece) (*Verdict, error) {
	b := &p.Bug
	v := &Verdict{
		Bug: b.ID(), IDs: b.IDs, Years: b.Years, Open: b.Open, Text: b.Text, Command: "informersim museum " + b.ID(), Report: Report(b.ID()), Piece: p,
	}
	if p.Gap != nil {
		v.Why, v.See = p.Gap.Why, p.Gap.See
		return v, g.showGap(ctx, v)
	}
	e := p.Exhibit
	v.Property = e.Property
	if g.problem != nil {
		v.Problem = g.problem.Error()
		return v, nil
	}
	v.Broken = &Side{Where: p.Where(), Subject: p.Subject(), Mutant: e.Mutant, Scenario: scenarioFile(e.Scenario)}
	v.Right = &Side{Where: "none", Subject: p.Subject(), Mutant: e.Mend, Scenario: scenarioFile(e.right())}
	broken, right := g.with, g.tree.Unchanged()
	if e.Mend != "" {
		broken, right = right, broken
	}
	// The property alone: what else a defect breaks on the way may come first, and is not what the bug is known for.
	one, err := g.play(ctx, broken, v.Broken, mutation.Transcript{Property: e.Property, Strict: e.Strict}, b.ID()+"-broken")
	if err != nil {
		return v, g.undecided(ctx, v, err)
	}
	other, err := g.play(ctx, right, v.Right, mutation.Transcript{Strict: e.Strict}, b.ID()+"-right")
	if err != nil {
		return v, g.undecided(ctx, v, err)
	}
	v.Problem = problem(e, one, other)
	return v, nil
}

// problem says what is not as an exhibit has to be.
func problem(e *Exhibit, broken, right *reports.Summary) string {
	switch {
	case broken.Violation == nil:
		return e.Property + " holds with the bug, too"
	case broken.Violation.Property != e.Property:
		return fmt.Sprintf("%s broke with the bug, not %s: %s", broken.Violation.Property, e.Property, broken.Violation.Message)
	case right.Violation != nil:
		return fmt.Sprintf("%s breaks without the bug, too: %s", right.Violation.Property, right.Violation.Message)
	case !right.Passed:
		return "without the bug the transcript is not as expected"
	}
	return ""
}

// showGap plays what there is to see of a bug that is no exhibit.
func (g *gallery) showGap(ctx context.Context, v *Verdict) error {
	if !strings.HasSuffix(v.See, ".sim") {
		return nil
	}
	s, err := g.play(ctx, g.tree.Unchanged(), &Side{Subject: "client-go", Scenario: v.See}, mutation.Transcript{}, v.Bug)
	switch {
	case err != nil:
		return g.undecided(ctx, v, err)
	case !s.Passed:
		v.Problem = v.See + " does not pass: " + s.Verdict
	}
	return nil
}

// undecided notes that a run has no verdict, which is not right either; it returns an error if all is over.
func (g *gallery) undecided(ctx context.Context, v *Verdict, err error) error {
	v.Problem = err.Error()
	return ctx.Err()
}

func (g *gallery) play(ctx context.Context, p mutation.Program, side *Side, x mutation.Transcript, name string) (*reports.Summary, error) {
	x.Subject, x.Scenario = side.Subject, filepath.FromSlash(side.Scenario)
	if g.traces != "" {
		x.Trace = filepath.Join(g.traces, name+".trace.jsonl")
		if info, err := os.Stat(x.Trace); err == nil && info.Size() > 0 && !outfile.IsTrace(x.Trace) {
			return nil, fmt.Errorf("%s is there and no trace, so it is not replaced; name another folder", x.Trace)
		}
	}
	s, err := g.tree.Play(ctx, p, x)
	if err != nil {
		return nil, err
	}
	side.Violation, side.Steps, side.Trace = s.Violation, s.Steps, x.Trace
	return s, nil
}
