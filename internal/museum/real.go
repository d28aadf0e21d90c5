package museum

import (
	"fmt"
	"slices"

	"github.com/informersim/informersim/subjects/clientgo/releases"
)

// A Real says which release of client-go shows an exhibit's bug, unmodified, and which has mended it.
type Real struct {
	Bug string
	// Broken has the bug, and Right has not: v0.23.17. Right is "" if no release has mended it; both are if none shows it.
	Broken, Right string
	// Property is the one that breaks; "" for that of the exhibit.
	Property string
	// Why says why no release shows the bug, or none is right.
	Why string
}

// Reals returns the rows of exhibits whose bug is client-go's, in any order. The others need none.
func Reals() []Real {
	const before = "mended before v0.17.5, the oldest release that a guest can be built with"
	return []Real{
		{Bug: "k59848", Broken: "v0.17.17", Right: "v0.18.19"},
		{Bug: "k74022", Why: "an informer opens no plain watch without a resourceVersion, and a streaming list, since v0.31, keeps its place until its end"},
		{Bug: "k107457", Broken: "v0.17.17", Why: "the restore is what is broken"},
		{Bug: "k133810", Broken: "v0.18.19", Why: "open"},
		{Bug: "k91073", Broken: "v0.18.5", Right: "v0.18.6"},
		{Bug: "k85221", Why: before},
		{Bug: "k86430", Why: "v0.17 lists at \"0\" again, and v0.18 asks for what it had: only what came between them asked for \"\""},
		{Bug: "k27004", Why: before},
		{Bug: "k83810", Why: before},
		{Bug: "k115658", Broken: "v0.24.12", Right: "v0.24.13"},
		{Bug: "k86015", Broken: "v0.17.17", Right: "v0.18.19", Property: "HandlersConverge"},
		{Bug: "k140890", Broken: "v0.31.14", Why: "open"},
		{Bug: "k104171", Why: "it takes another client: since v0.17, client-go takes a watch that ends at once, and has brought nothing, for a failure"},
		{Bug: "k136509", Why: "the race is lost on busy machines only; here goroutines run to their gates, and the exhibit's mutant makes one late"},
		{Bug: "k113763", Why: "until v0.26 no handler says when it has synced, and since then the answer is right: k113985 made what it asks for"},
		{Bug: "k109115", Why: "v0.23.5 has it (tools/cache/thread_safe_store.go:289), but the scenario adds its index to an informer that runs, which releases allow since v0.30"},
		{Bug: "k84959", Why: before},
	}
}

// RealRow is an exhibit with what releases show of it.
type RealRow struct {
	Real
	Piece *Piece
}

// RealRows returns the rows of all exhibits among pieces.
func RealRows(pieces []*Piece) ([]RealRow, error) { return realRows(pieces, Reals()) }

func realRows(pieces []*Piece, reals []Real) ([]RealRow, error) {
	var rows []RealRow
	for _, p := range pieces {
		if p.Exhibit == nil {
			continue
		}
		row := RealRow{Real: Real{Bug: p.Bug.ID()}, Piece: p}
		n := slices.IndexFunc(reals, func(r Real) bool { return r.Bug == p.Bug.ID() })
		switch where := p.Where(); {
		case n >= 0:
			row.Real = reals[n]
		case where == "the server", where == "a handler":
			row.Why = "the bug is not client-go's but " + where + "'s"
		default:
			return nil, fmt.Errorf("%s is about client-go: internal/museum/real.go has to say which release shows it", p.Bug.ID())
		}
		if err := row.check(); err != nil {
			return nil, fmt.Errorf("internal/museum/real.go, %s: %w", p.Bug.ID(), err)
		}
		if row.Property == "" {
			row.Property = p.Exhibit.Property
		}
		rows = append(rows, row)
	}
	return rows, nil
}

func (r *Real) check() error {
	if (r.Broken == "" || r.Right == "") != (r.Why != "") {
		return fmt.Errorf("it names %q and %q, and the reason %q: either both releases, or why one is missing", r.Broken, r.Right, r.Why)
	}
	var both []releases.Release
	for _, version := range []string{r.Broken, r.Right} {
		if version == "" {
			continue
		}
		release, err := releases.Parse(version)
		if err != nil {
			return err
		}
		both = append(both, release)
	}
	switch {
	case r.Broken == "" && r.Right != "":
		return fmt.Errorf("%s is right, but no release is broken", r.Right)
	case len(both) == 2 && (both[0].Minor > both[1].Minor || both[0].Minor == both[1].Minor && both[0].Patch >= both[1].Patch):
		return fmt.Errorf("%s does not come after %s", r.Right, r.Broken)
	}
	return nil
}

// Scenario is the file that is played, from the root of the clone.
func (r *RealRow) Scenario() string { return scenarioFile(r.Piece.Exhibit.Scenario) }

// Shown is what came of a row.
type Shown struct {
	Bug      string `json:"bug"`
	Scenario string `json:"scenario"`
	Property string `json:"property"`
	// Broken and Right are the runs of both releases; nil if none is named.
	Broken *Played `json:"broken,omitempty"`
	Right  *Played `json:"right,omitempty"`
	Why    string  `json:"why,omitempty"`
	// Problem says what is not as the row has it; "" for nothing.
	Problem string `json:"problem,omitempty"`

	Row *RealRow `json:"-"`
}

// Played is the run of a scenario on a release.
type Played struct {
	Release string `json:"release"`
	// Verdict is "pass", the property that broke, "mismatch" if only the transcript differs, "lacks" or another reason why there is none.
	Verdict string `json:"verdict"`
	Step    uint64 `json:"step"` // at which it broke, or the run ended
	Message string `json:"message,omitempty"`
}

// Judge says what is not as the row has it.
func (s *Shown) Judge() {
	switch {
	case s.Broken != nil && s.Broken.Verdict != s.Property:
		s.Problem = fmt.Sprintf("%s should break in %s: %s %s", s.Property, s.Broken.Release, s.Broken.Verdict, s.Broken.Message)
	case s.Right != nil && s.Right.Verdict != passes:
		s.Problem = fmt.Sprintf("%s should be right: %s %s", s.Right.Release, s.Right.Verdict, s.Right.Message)
	}
}

const passes = "pass"

func (p *Played) mark() (release, verdict string) {
	switch {
	case p == nil:
		return "none", ""
	case p.Verdict == passes:
		return p.Release, fmt.Sprintf("passes, %d steps", p.Step)
	}
	return p.Release, fmt.Sprintf("%s, step %d", p.Verdict, p.Step)
}
