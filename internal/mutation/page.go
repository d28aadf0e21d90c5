package mutation

import (
	"fmt"
	"strings"

	"github.com/informersim/informersim/reports"
)

// The marks between which the table stands in a page.
const (
	tableBegins = "<!-- The table: informersim mutants --update. -->"
	tableEnds   = "<!-- End of the table. -->"
)

// A Row is a mutant's row of the table in a page. What depends on the machine is left out. Its texts are as they stand in the page.
type Row struct{ Mutant, Defect, Verdict, Runs, Shrunk string }

// Row returns the row of a result.
func (r *Result) Row() Row {
	runs, _ := r.runs()
	verdict := r.Verdict()
	if detail := strings.TrimPrefix(r.Detail(), r.Defect); detail != "" { // the defect has a column of its own
		verdict += ": " + strings.TrimSpace(detail)
	}
	return Row{r.Mutant, cell(r.Defect), cell(verdict), runs, r.shrunk()}
}

func cell(text string) string {
	return strings.NewReplacer("|", `\|`, "\n", " ", "<", "&lt;").Replace(text)
}

const (
	rowFormat = "| `%s` | %s | %s | %s | %s |\n"
	rowHead   = "| mutant | what is broken | killed by | runs | shrunk to |\n|---|---|---|---|---|\n"
)

// rowOf reads a line of the table.
func rowOf(line string) (r Row, ok bool) {
	const escaped = "\x00"
	cells := strings.Split(strings.ReplaceAll(line, `\|`, escaped), "|")
	if len(cells) != 7 || !strings.HasPrefix(line, "| `") {
		return r, false
	}
	for n, to := range []*string{&r.Mutant, &r.Defect, &r.Verdict, &r.Runs, &r.Shrunk} {
		*to = strings.ReplaceAll(strings.TrimSpace(cells[n+1]), escaped, `\|`)
	}
	r.Mutant = strings.Trim(r.Mutant, "`")
	return r, true
}

// survivor reports that nothing killed the mutant, and the reason if one is known.
func (r Row) survivor() (reason string, survives bool) {
	if rest, known := strings.CutPrefix(r.Verdict, survivesAsKnown+": "); known {
		reason, _, _ = strings.Cut(rest, " (killed in ")
		return reason, true
	}
	return "", strings.HasPrefix(r.Verdict, survivesUnknown)
}

// table returns the table with what it comes to, all from its rows, so that no text can call a survivor what is killed.
func table(s Search, rows []Row) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s%s.\n\n%s%s", searched(s), summaryOf(rows), survivors(rows), rowHead)
	for _, r := range rows {
		fmt.Fprintf(&b, rowFormat, r.Mutant, r.Defect, r.Verdict, r.Runs, r.Shrunk)
	}
	return b.String()
}

// searched says how far the search went.
func searched(s Search) string {
	return fmt.Sprintf("%s of seeds, up to %s in each: ", reports.Counted(s.Ranges, "range"), reports.Counted(int(s.Runs), "run"))
}

// summaryOf is Summarize of the results that rows show.
func summaryOf(rows []Row) Summary {
	s := Summary{Mutants: len(rows)}
	var runs []uint64
	var commands []int
	for _, r := range rows {
		var n uint64
		if _, err := fmt.Sscan(r.Runs, &n); err != nil {
			if reason, _ := r.survivor(); reason != "" {
				s.KnownSurvivors++
			}
			continue
		}
		s.Killed++
		runs = append(runs, n)
		var c int
		if _, err := fmt.Sscan(r.Shrunk, &c); err == nil {
			commands = append(commands, c)
		}
	}
	s.MedianRuns, s.Runs95 = quantile(runs, 50), quantile(runs, 95)
	s.MedianCommands = quantile(commands, 50)
	return s
}

// survivors says which mutants nothing killed: those of which that is known by the reasons that their files give, then the others.
func survivors(rows []Row) string {
	var known reasons
	var unknown []string
	for _, r := range rows {
		name := "`" + r.Mutant + "`"
		switch reason, survives := r.survivor(); {
		case !survives:
		case reason == "":
			unknown = append(unknown, name)
		default:
			known.add(reason, r.Mutant)
		}
	}
	var b strings.Builder
	known.write(&b, "Known to survive: ")
	if len(unknown) > 0 {
		fmt.Fprintf(&b, "* Nothing has killed these, and something should: %s\n", strings.Join(unknown, ", "))
	}
	if b.Len() > 0 {
		b.WriteString("\n")
	}
	return b.String()
}

// reasons are those why mutants survive, in the order in which they come, with the mutants of each.
type reasons struct {
	all []string
	of  map[string][]string
}

func (r *reasons) add(why, mutant string) {
	if r.of == nil {
		r.of = map[string][]string{}
	}
	if r.of[why] == nil {
		r.all = append(r.all, why)
	}
	r.of[why] = append(r.of[why], "`"+mutant+"`")
}

// write writes a line for each reason.
func (r *reasons) write(b *strings.Builder, what string) {
	for _, why := range r.all {
		fmt.Fprintf(b, "* %s%s: %s\n", what, strings.Join(r.of[why], ", "), why)
	}
}

// UpdatePage returns a page with the table in it replaced. all are the names of all mutants. Where there are results of some of them only, the
// rows of the others stay, and the search must be the one that the table is of.
func UpdatePage(page string, s Search, all []string, results []*Result) (string, error) {
	before, rest, begins := strings.Cut(page, tableBegins)
	old, after, ends := strings.Cut(rest, tableEnds)
	if !begins || !ends {
		return "", fmt.Errorf("the page has no lines %q and %q, between which the table belongs", tableBegins, tableEnds)
	}
	rows := map[string]Row{}
	if len(results) < len(all) {
		if !strings.Contains(old, "\n"+searched(s)) {
			was, _, _ := strings.Cut(strings.TrimSpace(old), ":")
			return "", fmt.Errorf("the table is of %s, and the new rows would be of %s; search as far as the table did, or update all rows",
				was, strings.TrimSuffix(searched(s), ": "))
		}
		for line := range strings.Lines(old) {
			if r, ok := rowOf(line); ok {
				rows[r.Mutant] = r
			}
		}
	}
	for _, r := range results {
		rows[r.Mutant] = r.Row()
	}
	var sorted []Row
	var none []string
	for _, name := range all {
		if r, ok := rows[name]; ok {
			sorted = append(sorted, r)
		} else {
			none = append(none, name)
		}
	}
	if len(none) > 0 {
		return "", fmt.Errorf("the table has no row for %s; select %s, too", strings.Join(none, ", "), map[bool]string{true: "it", false: "them"}[len(none) == 1])
	}
	return before + tableBegins + "\n" + table(s, sorted) + tableEnds + after, nil
}
