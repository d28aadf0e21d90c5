package museum

import (
	"fmt"
	"io"
	"strings"

	"github.com/informersim/informersim/subjects/clientgo/releases"
)

const realRow = "%-8s %-9s %-32s %-9s %s\n"

// WriteRealHead writes the head of the table of releases.
func WriteRealHead(w io.Writer) error {
	_, err := fmt.Fprintf(w, realRow, "BUG", "BROKEN", "VERDICT", "RIGHT", "VERDICT")
	return err
}

// WriteText writes a row of the table of releases.
func (s *Shown) WriteText(w io.Writer) error {
	var err error
	if s.Broken == nil {
		_, err = io.WriteString(w, wrap(indent, fmt.Sprintf("%-8s %s %s", s.Bug, "none: ", s.Why)))
	} else {
		broken, verdict := s.Broken.mark()
		right, passed := s.Right.mark()
		if s.Right == nil {
			passed = s.Why
		}
		_, err = fmt.Fprintf(w, realRow, s.Bug, broken, verdict, right, passed)
	}
	if err == nil && s.Problem != "" {
		_, err = fmt.Fprintf(w, "    NOT RIGHT: %s\n", strings.ReplaceAll(s.Problem, "\n", "\n    "))
	}
	return err
}

// realWritten is the first line of the page of releases.
const realWritten = "<!-- Written by informersim museum --real --write docs/museum-releases.md: change internal/museum, and write it again. -->\n"

// CheckRealPage refuses a file that is not the page of releases.
func CheckRealPage(file string) error {
	if err := checkPage(file, realWritten); err != nil {
		return fmt.Errorf("%w: name a new file, or docs/museum-releases.md", err)
	}
	return nil
}

// RealPage returns the page of releases. grid has, by bug and minor release, what came of the exhibit's scenario there.
func RealPage(shown []*Shown, grid map[string]map[int]string) string {
	b := &strings.Builder{}
	b.WriteString(realWritten + `# The museum on releases of client-go

Each exhibit of the [museum](museum/README.md) is a scenario that shows a bug. Where a release of client-go since v0.17 had it, that release shows
it here, unmodified, and the one that mended it passes. ` + "`informersim museum --real`" + ` plays these rows, and builds each release once ([releases.md](releases.md)).

| bug | release | breaks | release | verdict |
|---|---|---|---|---|
`)
	for _, s := range shown {
		if s.Broken == nil {
			continue
		}
		fmt.Fprintf(b, "%s step %d | ", s.Row.pageRow(), s.Broken.Step)
		if release, verdict := s.Right.mark(); s.Right == nil {
			fmt.Fprintf(b, "none | %s |\n", s.Why)
		} else {
			fmt.Fprintf(b, "%s | %s |\n", release, verdict)
		}
	}
	b.WriteString("\n## Scenario by release\n\n✕ the exhibit's property breaks · ! another one does · ≠ only the transcript differs · ✓ all is well · – the release lacks what the scenario asks for\n\n|  |")
	for _, m := range releases.All() {
		fmt.Fprintf(b, " 0.%d |", m.Number)
	}
	b.WriteString("\n|---|" + strings.Repeat("---|", len(releases.All())) + "\n")
	for _, s := range shown {
		if grid[s.Bug] == nil {
			continue
		}
		fmt.Fprintf(b, "| [%s](../%s) |", s.Bug, s.Scenario)
		for _, m := range releases.All() {
			fmt.Fprintf(b, " %s |", grid[s.Bug][m.Number])
		}
		b.WriteString("\n")
	}
	b.WriteString("\nThe newest patch of each minor is played, with all properties that it can be held to. What a release before v0.27 cannot say is not judged.\n")
	var rows []RealRow
	for _, s := range shown {
		rows = append(rows, *s.Row)
	}
	b.WriteString(realGaps(rows))
	return b.String()
}

// pageRow is the row's part of the page that needs no run.
func (r *RealRow) pageRow() string {
	return fmt.Sprintf("| [%s](museum/%s.md) | %s | [%s](spec/properties.md#%[4]s),", r.Bug, r.Bug, r.Broken, r.Property)
}

// realGaps says which exhibits no release shows.
func realGaps(rows []RealRow) string {
	b := &strings.Builder{}
	b.WriteString("\n## What no release shows\n\n| bug | why |\n|---|---|\n")
	for _, r := range rows {
		if r.Broken == "" {
			fmt.Fprintf(b, "| [%s](museum/%[1]s.md) | %s |\n", r.Bug, r.Why)
		}
	}
	return b.String()
}
