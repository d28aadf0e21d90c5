package mutation

import (
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/informersim/informersim/reports"
)

// Summary counts the results of a hunt.
type Summary struct {
	Mutants int `json:"mutants"`
	Killed  int `json:"killed"`
	// KnownSurvivors are those whose files say why nothing kills them.
	KnownSurvivors int `json:"knownSurvivors"`
	Failed         int `json:"failed"`
	// MedianRuns and Runs95 are quantiles of the runs to the kill, over the mutants that are killed.
	MedianRuns uint64 `json:"medianRuns"`
	Runs95     uint64 `json:"runs95"`
	// MedianCommands is the median number of commands of shrunk findings.
	MedianCommands int `json:"medianCommands"`
}

// Summarize counts results.
func Summarize(results []*Result) Summary {
	s := Summary{Mutants: len(results)}
	var runs []uint64
	var commands []int
	for _, r := range results {
		if r.Failed() {
			s.Failed++
		}
		if r.Error == "" && !r.Killed() && r.Survives != "" {
			s.KnownSurvivors++
		}
		if r.Error != "" || !r.Killed() {
			continue
		}
		s.Killed++
		runs = append(runs, r.Median().Runs)
		if x := r.Shrunk(); x != nil && x.Error == "" {
			commands = append(commands, x.After.Commands)
		}
	}
	s.MedianRuns, s.Runs95 = quantile(runs, 50), quantile(runs, 95)
	s.MedianCommands = quantile(commands, 50)
	return s
}

// quantile returns the smallest value that is not exceeded by that many percent of them; 0 if there is none.
func quantile[T int | uint64](values []T, percent int) T {
	if len(values) == 0 {
		return 0
	}
	slices.Sort(values)
	return values[(len(values)*percent+99)/100-1]
}

// String says it in one line.
func (s Summary) String() string {
	text := fmt.Sprintf("%d of %s killed", s.Killed, reports.Counted(s.Mutants, "mutant"))
	if s.Killed > 0 {
		text += fmt.Sprintf(", after %s in the median, %d for 95 %% of them", reports.Counted(int(s.MedianRuns), "run"), s.Runs95)
	}
	if s.MedianCommands > 0 {
		text += fmt.Sprintf(", shrunk to %s in the median", reports.Counted(s.MedianCommands, "command"))
	}
	if s.KnownSurvivors > 0 {
		text += fmt.Sprintf("; known to survive: %d", s.KnownSurvivors)
	}
	return text
}

// notTried stands for a mutant that was wanted and could not be tried.
const notTried = "NOT TRIED"

// Verdict says what became of the mutant in a few words, or what is to be done.
func (r *Result) Verdict() string {
	switch {
	case r.Error != "":
		return notTried
	case r.Killed() && r.Survives != "":
		return "KILLED, although its file says that it survives"
	case r.Killed():
		return strings.Join(r.Properties(), ", ")
	case r.Survives != "":
		return survivesAsKnown
	}
	return survivesUnknown
}

const (
	survivesAsKnown = "survives, as known"
	survivesUnknown = "SURVIVES"
)

// Detail says what the verdict leaves open, "" for nothing.
func (r *Result) Detail() string {
	switch {
	case r.Error != "":
		return r.Error
	case r.Killed() && r.Survives != "":
		return "good news: delete the line \"survives: " + r.Survives + "\""
	case r.Killed() && !slices.ContainsFunc(r.Breaks, func(p string) bool { return slices.Contains(r.Properties(), p) }):
		return "its file expects " + strings.Join(r.Breaks, " or ")
	case r.Killed():
		return ""
	}
	text := r.Defect
	if r.Survives != "" {
		text = r.Survives
	}
	if n := r.kills(); n > 0 {
		text += fmt.Sprintf(" (killed in %d of %d ranges, by %s)", n, len(r.Ranges), strings.Join(r.Properties(), ", "))
	}
	for _, x := range r.Ranges {
		if x.Error != "" {
			return text + ": " + x.Error
		}
	}
	return text
}

// runs is the median of the runs, and the seconds that they took; "" if it is not killed.
func (r *Result) runs() (runs, seconds string) {
	if r.Error != "" || !r.Killed() {
		return "", ""
	}
	m := r.Median()
	return fmt.Sprint(m.Runs), fmt.Sprintf("%.1f", m.Found.Seconds)
}

// shrunk is the size of the smallest run.
func (r *Result) shrunk() string {
	x := r.Shrunk()
	switch {
	case x == nil || x.Error != "":
		return ""
	case x.Picks > 0:
		return fmt.Sprintf("%s, %s", reports.Counted(x.After.Commands, "command"), reports.Counted(x.Picks, "pick"))
	}
	return reports.Counted(x.After.Commands, "command")
}

// WriteHead writes the head of the table.
func WriteHead(w io.Writer) error {
	_, err := fmt.Fprintf(w, row, "MUTANT", "SUBJECT", "RUNS", "SECONDS", "SHRUNK TO", "KILLED BY")
	return err
}

const row = "%-44s %-9s %6s %8s  %-22s %s\n"

// WriteText writes the mutant's row of the table.
func (r *Result) WriteText(w io.Writer) error {
	runs, seconds := r.runs()
	if _, err := fmt.Fprintf(w, row, r.Mutant, r.Subject, runs, seconds, r.shrunk(), r.Verdict()); err != nil {
		return err
	}
	if detail := r.Detail(); detail != "" {
		_, err := fmt.Fprintf(w, "    %s\n", strings.ReplaceAll(detail, "\n", "\n    "))
		return err
	}
	return nil
}
