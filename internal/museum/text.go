package museum

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/informersim/informersim/reports"
)

const row = "%-8s %-5s %-22s %-24s %9s %9s\n"

// WriteHead writes the head of the table.
func WriteHead(w io.Writer) error {
	_, err := fmt.Fprintf(w, row, "BUG", "YEAR", "PROPERTY", "THE BUG IS IN", "BREAKS AT", "PASSES IN")
	return err
}

// WriteText writes a piece's row of the table: the step at which the property breaks with the bug, and how many steps the run without
// it takes.
func (v *Verdict) WriteText(w io.Writer) error {
	year, _, _ := strings.Cut(v.Years, ",")
	var err error
	switch {
	case v.Why != "":
		_, err = io.WriteString(w, wrap(indent, fmt.Sprintf("%-8s %-5s no exhibit: %s", v.Bug, year, v.Why)))
	case v.Problem != "":
		_, err = fmt.Fprintf(w, "%-8s %-5s %s\n", v.Bug, year, v.Property)
	default:
		_, err = fmt.Fprintf(w, row, v.Bug, year, v.Property, v.Broken.Where, fmt.Sprint(v.Broken.Violation.Step), fmt.Sprint(v.Right.Steps))
	}
	if err == nil && v.Problem != "" {
		_, err = fmt.Fprintf(w, "    NOT RIGHT: %s\n", strings.ReplaceAll(v.Problem, "\n", "\n    "))
	}
	return err
}

// WriteDetail writes what there is to say of one piece of a clone: it comes after its row.
func (v *Verdict) WriteDetail(w io.Writer, root string) error {
	b := &strings.Builder{}
	fmt.Fprintf(b, "\n%s", wrap(0, Plain(v.Text)))
	if v.See != "" {
		fmt.Fprintf(b, "see %s\n", v.See)
	}
	if v.Broken != nil && v.Broken.Violation != nil {
		x := v.Piece.Exhibit
		text, err := os.ReadFile(filepath.Join(root, filepath.FromSlash(v.Broken.Scenario)))
		if err != nil {
			return err
		}
		prose, _ := cutProse(string(text))
		fmt.Fprintf(b, "\n%s", wrap(0, strings.ReplaceAll(prose, "\n", " ")))
		fmt.Fprintf(b, "\n%s", wrap(2, "with the bug: "+v.Piece.change()))
		for line := range strings.SplitSeq(v.Broken.Violation.Error(), "\n") {
			b.WriteString(wrap(6, "  "+line))
		}
		b.WriteString(wrap(2, "without it: "+v.right()))
		if x.Note != "" {
			fmt.Fprintf(b, "\n%s", wrap(0, Plain(x.Note)))
		}
		fmt.Fprintf(b, "\nscenario  %s\n", v.Broken.Scenario)
		if v.Right.Scenario != v.Broken.Scenario {
			fmt.Fprintf(b, "spared by %s\n", v.Right.Scenario)
		}
		if v.Broken.Trace != "" {
			fmt.Fprintf(b, "traces    %s, %s\n", v.Broken.Trace, v.Right.Trace)
		}
		for _, side := range []*Side{v.Broken, v.Right} {
			if side.Report != "" {
				fmt.Fprintf(b, "page      %s\n", side.Report)
			}
		}
	}
	fmt.Fprintf(b, "report    %s\n", v.Report)
	_, err := io.WriteString(w, b.String())
	return err
}

// change says what makes the two sides differ.
func (p *Piece) change() string {
	e := p.Exhibit
	switch {
	case e.Mutant != "":
		return fmt.Sprintf("%s (properties/mutants/%s.txtar)", p.Edits.Defect, e.Mutant)
	case e.Mend != "":
		return "client-go as it is"
	}
	return "client-go as it is, in this scenario"
}

// right says what the run without the bug is.
func (v *Verdict) right() string {
	passes := fmt.Sprintf("passes, in %s", reports.Counted(int(v.Right.Steps), "step"))
	switch e := v.Piece.Exhibit; {
	case v.Right.Violation != nil:
		passes = v.Right.Violation.Property + " breaks"
	case e.Mend != "":
		return fmt.Sprintf("%s. %s (properties/mutants/mends/%s.txtar)", passes, v.Piece.Edits.Defect, e.Mend)
	case e.Remedy != "":
		return fmt.Sprintf("%s. The scenario is another: %s", passes, v.Right.Scenario)
	}
	return passes
}

// width is that of a terminal.
const width = 80

// wrap breaks a line of text where it becomes too wide, and indents the second line and those after it.
func wrap(indent int, line string) string {
	b := &strings.Builder{}
	for len(line) > width {
		n := strings.LastIndexByte(line[:width+1], ' ')
		if n <= indent {
			break
		}
		fmt.Fprintf(b, "%s\n", line[:n])
		line = strings.Repeat(" ", indent) + line[n+1:]
	}
	return b.String() + line + "\n"
}

// indent is the width of a row's first two columns.
const indent = 15

// plain is Markdown for a terminal.
func Plain(text string) string { return strings.NewReplacer("*", "", "`", "").Replace(text) }

// A Summary counts pieces.
type Summary struct {
	Bugs     int `json:"bugs"`
	Exhibits int `json:"exhibits"`
	// Wrong are pieces that are not right.
	Wrong int `json:"wrong"`
}

// Summarize counts pieces.
func Summarize(verdicts []*Verdict) Summary {
	s := Summary{Bugs: len(verdicts)}
	for _, v := range verdicts {
		if v.Why == "" {
			s.Exhibits++
		}
		if v.Problem != "" {
			s.Wrong++
		}
	}
	return s
}

// String says it in one line.
func (s Summary) String() string {
	text := fmt.Sprintf("%s: %s", reports.Counted(s.Bugs, "bug"), reports.Counted(s.Exhibits, "exhibit"))
	if s.Exhibits < s.Bugs {
		text += fmt.Sprintf(", %d without one and with a reason", s.Bugs-s.Exhibits)
	}
	if s.Wrong > 0 {
		return text + fmt.Sprintf("; NOT RIGHT: %d", s.Wrong)
	}
	return text + "; every row is right"
}
