package museum

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/informersim/informersim/reports"
)

// written is the first line of each page.
const written = "<!-- Written by informersim museum --write docs/museum: change internal/museum, and write it again. -->\n"

// verdictsHeading begins the part of a page that only the runs can tell.
const verdictsHeading = "\n## The verdicts\n"

// Pages returns the pages of the museum by their names, from all of its verdicts and the clone's scenarios.
func Pages(root string, verdicts []*Verdict) (map[string]string, error) {
	pages := map[string]string{}
	index := &strings.Builder{}
	index.WriteString(indexHead(verdicts))
	for _, v := range verdicts {
		if v.Why != "" {
			continue
		}
		if v.Problem != "" {
			return nil, fmt.Errorf("%s is not right, so no pages are written: %s", v.Bug, v.Problem)
		}
		head, err := v.Piece.head(root)
		if err != nil {
			return nil, err
		}
		pages[v.Bug+".md"] = head + verdictsHeading + v.verdicts()
		fmt.Fprintf(index, "%s step %d | %s |\n", v.Piece.indexRow(), v.Broken.Violation.Step, reports.Counted(int(v.Right.Steps), "step"))
	}
	var pieces []*Piece
	for _, v := range verdicts {
		pieces = append(pieces, v.Piece)
	}
	index.WriteString(gapTable(pieces))
	pages["README.md"] = index.String()
	return pages, nil
}

// CheckPages refuses a folder that has a page of somebody else's.
func CheckPages(dir string) error {
	_, err := oldPages(dir)
	return err
}

// oldPages returns the pages in a folder.
func oldPages(dir string) ([]string, error) {
	if info, err := os.Stat(dir); err == nil && !info.IsDir() {
		return nil, fmt.Errorf("%s is a file: name an empty folder, or docs/museum", dir)
	}
	old, err := filepath.Glob(filepath.Join(dir, "*.md"))
	if err != nil {
		return nil, err
	}
	for _, file := range old {
		if err := checkPage(file, written); err != nil {
			return nil, fmt.Errorf("%w: name an empty folder, or docs/museum", err)
		}
	}
	return old, nil
}

// checkPage refuses a file that does not begin as a page does. One that does not exist, or is empty, may be written.
func checkPage(file, first string) error {
	text, err := os.ReadFile(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return err
	case len(text) > 0 && !strings.HasPrefix(string(text), first):
		return fmt.Errorf("%s is no page of the museum, and would be overwritten", file)
	}
	return nil
}

// WritePages writes the pages into a folder, and removes pages there that are no more.
func WritePages(dir string, pages map[string]string) error {
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	old, err := oldPages(dir)
	if err != nil {
		return err
	}
	for _, file := range old {
		if _, stays := pages[filepath.Base(file)]; !stays {
			if err := os.Remove(file); err != nil {
				return err
			}
		}
	}
	for name, text := range pages { // order: each is a file of its own
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			return err
		}
	}
	return nil
}

func indexHead(verdicts []*Verdict) string {
	s := Summarize(verdicts)
	return written + fmt.Sprintf(`# Museum

Bugs that really happened in informers, the apiserver and etcd, each put back: %d of the %d of [docs/spec/bugs.md](../spec/bugs.md). An
exhibit is a scenario in which a property breaks with the bug, and that passes without it. Where a bug was client-go's, client-go from
the module cache is built with the lines that had it; a bug of the server is put into the fake server; what upstream has not mended
yet is shown by unmodified client-go.

The trace of the run with the bug is one like any other. `+"`informersim replay`"+` plays it on the program as it is, without the bug, and says at
which step that differs.

`+"```sh\ninformersim museum                    # plays them all; a clone and the go command are needed\ninformersim museum k115658            # one of them, with its verdicts\ninformersim museum k115658 --trace .  # and the traces of both runs, for informersim report, explain and replay\ninformersim museum --report museum    # all of them as pages to step through, from museum/index.html\n```"+`

| bug | year | what happened | found by | the bug is in | breaks at | passes in |
|---|---|---|---|---|---|---|
`, s.Exhibits, s.Bugs)
}

// indexRow is the piece's row of the table, up to the verdicts.
func (p *Piece) indexRow() string {
	year := p.Bug.Years
	if p.Bug.Open {
		year += ", open"
	}
	return fmt.Sprintf("| [%s](%s.md) | %s | %s | %s | %s |", strings.Join(p.Bug.IDs, ", "), p.Bug.ID(), year, cell(p.Bug.Text),
		property(p.Exhibit.Property), p.Where())
}

func gapTable(pieces []*Piece) string {
	b := &strings.Builder{}
	b.WriteString("\n## No exhibits\n\n| bug | year | what happened | why it is no exhibit | what there is to see |\n|---|---|---|---|---|\n")
	for _, p := range pieces {
		if p.Gap == nil {
			continue
		}
		see := ""
		if p.Gap.See != "" {
			see = fmt.Sprintf("[%s](../../%s)", filepath.Base(p.Gap.See), p.Gap.See)
		}
		fmt.Fprintf(b, "| [%s](%s) | %s | %s | %s | %s |\n", strings.Join(p.Bug.IDs, ", "), Report(p.Bug.ID()), p.Bug.Years, cell(p.Bug.Text), cell(p.Gap.Why), see)
	}
	return b.String()
}

// head is the part of an exhibit's page that needs no run.
func (p *Piece) head(root string) (string, error) {
	e, b := p.Exhibit, &strings.Builder{}
	fmt.Fprintf(b, "%s# %s\n\n%s. %s\n\n", written, strings.Join(p.Bug.IDs, ", "), p.Bug.Kind, strings.ReplaceAll(p.Bug.Text, "<", "&lt;"))
	var links []string
	for _, id := range p.Bug.IDs {
		links = append(links, fmt.Sprintf("[%s](%s)", id, Report(id)))
	}
	state := "mended since"
	if p.Bug.Open {
		state = "open"
	}
	fmt.Fprintf(b, "Reported as %s in %s, %s. Found by %s.\n", strings.Join(links, " and "), p.Bug.Years, state, property(e.Property))
	if e.Note != "" {
		fmt.Fprintf(b, "\n%s\n", e.Note)
	}
	fmt.Fprintf(b, "\n```sh\ninformersim museum %s\ninformersim museum %[1]s --report museum    # museum/%[1]s-broken.html and museum/%[1]s-right.html, to step through\n", p.Bug.ID())
	if e.Mend == "" {
		fmt.Fprintf(b, "informersim run %s --subject %s    # without the bug\n", scenarioFile(e.right()), p.Subject())
	}
	b.WriteString("```\n")
	b.WriteString("\n## What has the bug\n\n")
	switch {
	case e.Mutant != "":
		fmt.Fprintf(b, "The bug is in %s. %s The edit is [%s](../../properties/mutants/%s.txtar).\n", p.Where(), p.Edits.Defect, e.Mutant, e.Mutant)
	case e.Mend != "":
		fmt.Fprintf(b, "client-go as it is. What mends it here: %s The edit is [%s](../../properties/mutants/mends/%s.txtar).\n", p.Edits.Defect, e.Mend, e.Mend)
	default:
		fmt.Fprintf(b, "client-go as it is, in the scenario below. It is spared in [%s](../../%s).\n", e.Remedy, scenarioFile(e.Remedy))
	}
	if len(p.Others) > 0 {
		fmt.Fprintf(b, "\nThe same bug elsewhere: `%s`; `informersim mutants %s` finds them by exploration.\n", strings.Join(p.Others, "`, `"), p.Bug.ID())
	}
	file := scenarioFile(e.Scenario)
	text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(file)))
	if err != nil {
		return "", fmt.Errorf("the scenario of the exhibit %s: %w", p.Bug.ID(), err)
	}
	prose, script := cutProse(string(text))
	fmt.Fprintf(b, "\n## The scenario\n\n%s\n\n```\n%s```\n\nIt is [%s](../../%s).\n", prose, script, file, file)
	return b.String(), nil
}

// cutProse cuts the comment at the head of a script off.
func cutProse(script string) (prose, rest string) {
	var lines []string
	for strings.HasPrefix(script, "#") {
		line, after, _ := strings.Cut(script, "\n")
		lines, script = append(lines, strings.TrimSpace(strings.TrimPrefix(line, "#"))), after
	}
	return strings.Join(lines, "\n"), script
}

// verdicts is the part of a page that the runs tell.
func (v *Verdict) verdicts() string {
	b := &strings.Builder{}
	x := v.Broken.Violation
	fmt.Fprintf(b, "\nWith the bug, **%s** breaks at step %d (%v): %s\n\n", x.Property, x.Step, x.At, markdown(x.Message))
	for _, e := range x.Because {
		fmt.Fprintf(b, "* step %d (%v): %s\n", e.Step, e.At, markdown(e.Text))
	}
	if len(x.Because) > 0 {
		b.WriteString("\n")
	}
	fmt.Fprintf(b, "Without it, the run passes, in %s.\n", reports.Counted(int(v.Right.Steps), "step"))
	return b.String()
}

func property(name string) string { return fmt.Sprintf("[%s](../spec/properties.md#%s)", name, name) }

func cell(text string) string { return strings.ReplaceAll(markdown(text), "|", `\|`) }

func markdown(text string) string {
	return strings.NewReplacer("\n", " ", "<", "&lt;").Replace(text)
}
