package terminal

import (
	"fmt"
	"strings"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/timeline"
)

// Explain says why a run ended as it did: its verdict and the proof, then the way of an object's newest version through the faults and broken
// watches, and where each of its versions got to. of is the object, nil for the one that the verdict is about.
func Explain(t *timeline.Timeline, of *timeline.Object) string {
	var b strings.Builder
	verdict(&b, t)
	if of == nil {
		if all := t.Involved(); len(all) > 0 {
			of = all[0]
		}
	}
	if v := t.Conclusion.Violation; v != nil && len(v.Because) > 0 {
		section(&b, "because")
		evidence(&b, v.Because)
	}
	nearest(&b, t.Conclusion.Twin)
	if of == nil {
		b.WriteString("\n  nothing was written in this run\n")
		return reports.Plain(b.String())
	}
	last := &of.Versions[len(of.Versions)-1]
	section(&b, fmt.Sprintf("the way of %s, %s at rv=%d", reports.PlainLine(of.Key), reports.PlainLine(last.What), last.RV))
	evidence(&b, t.Explain(of))
	section(&b, "where its versions got to: the step, or what became of them")
	table(&b, t, t.Table(of))
	if others := t.Involved(); len(others) > 1 && t.Named() {
		var names []string
		for _, o := range others {
			if o != of {
				names = append(names, fmt.Sprintf("%q", o.Key))
			}
		}
		text := strings.Join(names[:min(len(names), 5)], ", ")
		lines(&b, "  ", fmt.Sprintf("\n  also involved (--object): %s", text))
	}
	return reports.Plain(b.String())
}

func verdict(b *strings.Builder, t *timeline.Timeline) {
	r := &t.Run
	switch v := t.Conclusion.Violation; {
	case v != nil:
		word, expected := "FAIL ", ""
		if t.Passed() {
			word, expected = "PASS  breaks", ", as expected"
		}
		fmt.Fprintf(b, "%s %s at step %d (%s)%s\n\n", word, reports.PlainLine(v.Property), v.Step, reports.Rounded(v.At), expected)
		lines(b, "  ", strings.TrimRight(v.Message, "\n"))
	case t.Ending() != nil:
		ending(b, t)
	case r.Failure != "":
		lines(b, "  ", "FAIL  "+r.Failure)
	case t.Passed():
		fmt.Fprintf(b, "PASS  %s\n", reports.Counted(len(t.Steps), "step"))
	default:
		fmt.Fprintf(b, "FAIL  the run %s\n", reports.Ended(t.End.Verdict))
	}
}

// nearest tells of the nearest run that passes: - what happens in this run, + what happens in that one.
func nearest(b *strings.Builder, w *reports.Twin) {
	if w == nil {
		return
	}
	section(b, "the nearest run that passes (- this run, + that one)")
	for _, part := range Wrapped("    "+reports.PlainLine(w.Sentence()), Width, 4) {
		b.WriteString(part + "\n")
	}
	for _, p := range w.Partings {
		side(b, "-", p.Here)
		side(b, "+", p.There)
	}
}

func side(b *strings.Builder, sign string, all []reports.Line) {
	for _, l := range all {
		head := fmt.Sprintf("    %s step %-5d %10s  ", sign, l.Step, reports.Rounded(l.At))
		for _, part := range Wrapped(head+reports.PlainLine(l.Text), Width, len(head)) {
			b.WriteString(part + "\n")
		}
	}
}

// ending tells what is known of a run that did not come to its end, and how to see it again.
func ending(b *strings.Builder, t *timeline.Timeline) {
	e := t.Ending()
	for _, part := range Wrapped(e.Word+"  "+e.Sentence, Width, len(e.Word)+2) {
		b.WriteString(part + "\n")
	}
	if t.Run.Failure != "" {
		b.WriteByte('\n')
		lines(b, "  ", t.Run.Failure)
	}
	if e.Begun != "" || len(e.InFlight) > 0 {
		section(b, "what had begun")
		if e.Begun != "" {
			lines(b, "    ", fmt.Sprintf("    step %d, which is not in the trace: %s", len(t.Steps)+1, reports.PlainLine(e.Begun)))
		}
		for _, text := range e.InFlight {
			lines(b, "    ", "    "+reports.PlainLine(text))
		}
	}
	if e.Advice != "" {
		b.WriteByte('\n')
		lines(b, "  ", "  "+e.Advice)
	}
	section(b, "see it again")
	for _, command := range t.Commands() {
		fmt.Fprintf(b, "    %s\n", command)
	}
}

func section(b *strings.Builder, title string) { fmt.Fprintf(b, "\n  %s\n", title) }

// lines writes a text, each line of which is indented and broken.
func lines(b *strings.Builder, indent, text string) {
	for _, line := range strings.Split(text, "\n") {
		if line == "" {
			b.WriteByte('\n')
			continue
		}
		for _, part := range Wrapped(indent+strings.TrimPrefix(line, indent), Width, len(indent)) {
			b.WriteString(part + "\n")
		}
	}
}

func evidence(b *strings.Builder, all []reports.Evidence) {
	for _, e := range all {
		head := fmt.Sprintf("    step %-5d %10s  ", e.Step, reports.Rounded(e.At))
		for _, part := range Wrapped(head+reports.PlainLine(e.Text), Width, len(head)) {
			b.WriteString(part + "\n")
		}
	}
	if len(all) == 0 {
		b.WriteString("    (nothing)\n")
	}
}

// maxRows is the number of versions in a table.
const maxRows = 12

// table writes a table, in blocks of as many columns as fit.
func table(b *strings.Builder, t *timeline.Timeline, x *timeline.Table) {
	rows := x.Rows[max(0, len(x.Rows)-maxRows):]
	if n := len(x.Rows) - len(rows); n > 0 {
		fmt.Fprintf(b, "    (%d earlier versions)\n", n)
	}
	const head = 4 + 7 + 10 + 8 // rv, write and step
	for from := 0; ; {
		to, width := from, head
		var titles []string
		for to < len(x.Columns) {
			title := reports.PlainLine(heading(t, x.Columns[to]))
			if w := max(len(title), 8) + 2; width+w <= Width || to == from {
				width += w
				titles = append(titles, title)
				to++
				continue
			}
			break
		}
		fmt.Fprintf(b, "    %-6s %-9s %-7s", "rv", "write", "step")
		for _, title := range titles {
			fmt.Fprintf(b, " %-*s ", max(len(title), 8), title)
		}
		trimLine(b)
		for _, r := range rows {
			fmt.Fprintf(b, "    %-6d %-9s %-7d", r.RV, reports.PlainLine(r.What), r.Step)
			for n, title := range titles {
				fmt.Fprintf(b, " %-*s ", max(len(title), 8), cellText(r.Cells[from+n]))
			}
			trimLine(b)
		}
		if from = to; from >= len(x.Columns) {
			return
		}
		b.WriteByte('\n')
	}
}

// trimLine ends a line without the spaces at its end.
func trimLine(b *strings.Builder) {
	text := strings.TrimRight(b.String(), " ")
	b.Reset()
	b.WriteString(text + "\n")
}

func heading(t *timeline.Timeline, p timeline.Part) string {
	name := t.Lanes[p.Lane].Name
	switch p.Kind {
	case timeline.PartDelivered:
		return name + " sent"
	case timeline.PartTold:
		return name + " told"
	}
	return name
}

func cellText(c timeline.Cell) string {
	switch {
	case c.Skipped:
		return "skipped"
	case c.Unknown:
		return "-"
	case c.Stage == nil:
		return "NEVER"
	case c.Stage.How != "":
		return fmt.Sprintf("%d %s", c.Stage.Step, c.Stage.How)
	}
	return fmt.Sprint(c.Stage.Step)
}
