package html

import (
	"bytes"
	_ "embed"
	"fmt"
	"html/template"
	"maps"
	"math/bits"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
)

//go:embed ensemble.html
var ensembleSource string

var ensembleTemplate = template.Must(template.New("ensemble").Parse(ensembleSource))

// An Ensemble is what a page about the runs of many seeds shows.
type Ensemble struct {
	Title   string
	Verdict string // PASS, FAIL or OPEN first
	Missing []string
	// Findings are in the order in which they were found.
	Findings   []Finding
	Undecided  []string
	Properties []string
	// Expected are those that broke as scenarios expect.
	Expected []string
	Runs     uint64
	Steps    uint64
	Virtual  time.Duration
	Faults   map[string]int
	// Kinds are all faults that there are.
	Kinds    []string
	Coverage reports.Coverage
	Build    string
	// Took is real time: the sum of that of all shards. It decides nothing but the last section.
	Took time.Duration
}

// A Finding is what some failing runs have in common.
type Finding struct {
	Property, Reason, Message string
	Seed, RunsTo, Count       uint64 // RunsTo is how many runs were made until the first that has it
	Size                      string
	Again                     []string
	Link                      string // its report, relative to the page; "" for none
}

// The most that a page lists.
const (
	maxFindings = 200
	maxNames    = 120 // of faults
)

// ensemblePage is what ensemble.html shows.
type ensemblePage struct {
	Title, Word, Sentence, Held, Fewer string
	Missing, Undecided, Properties     []string
	Causes                             []cause
	Heats                              []heat
	Facts, Measured                    []fact
	Style                              template.CSS
}

// cause is a property with the findings that break it for one reason.
type cause struct {
	Property, Reason string
	Findings         []Finding
}

// heat is a heat map.
type heat struct {
	ID, Title, Note, Corner, Covered, Never string
	Columns                                 []string
	Rows                                    []heatRow
}

type heatRow struct {
	Name  string
	Cells []heatCell
}

// heatCell is a count; Level is how warm that is, from 0 for never to 6.
type heatCell struct{ N, Level int }

// RenderEnsemble renders a page. All of it but the section of measured times is a function of the seeds and the build.
func RenderEnsemble(e *Ensemble) ([]byte, error) {
	word, rest, _ := strings.Cut(e.Verdict, " ")
	p := &ensemblePage{Title: e.Title, Word: word, Sentence: strings.TrimSpace(rest), Missing: e.Missing, Undecided: e.Undecided, Properties: e.Properties}
	p.Held = fmt.Sprintf("%d properties held after every step of %s", len(e.Properties)-len(e.Expected), reports.Counted(int(e.Runs), "run"))
	if len(e.Expected) > 0 {
		p.Held += fmt.Sprintf(", and %s broke where the scenario expects it", strings.Join(e.Expected, ", "))
	}
	p.findings(e.Findings)
	faults := names(e)
	p.Heats = []heat{
		heatOf("states", "Faults and the state of the reflector that they hit", "How often each fault hit a reflector in each state. A fault of a replica or of the store hits every reflector.",
			"fault", e.Coverage.Meets, faults, reports.ReflectorStates),
		heatOf("pairs", "Faults after faults", "How often a fault (column) was the next one of a run after another (row).", "first", e.Coverage.Pairs, faults, faults),
	}
	total := 0
	for _, n := range e.Faults { // order: a sum
		total += n
	}
	p.Facts = []fact{
		{"runs", fmt.Sprint(e.Runs)}, {"steps", fmt.Sprint(e.Steps)}, {"virtual time", fmt.Sprintf("%.1f hours", e.Virtual.Hours())},
		{"faults", fmt.Sprintf("%d, of %d kinds of %d", total, len(e.Faults), len(e.Kinds))}, {"written by", e.Build},
	}
	seconds := max(e.Took.Seconds(), 1e-3)
	p.Measured = []fact{{"time", e.Took.Round(10 * time.Millisecond).String()}, {"runs/s", fmt.Sprintf("%.0f", float64(e.Runs)/seconds)}, {"virtual hours/s", fmt.Sprintf("%.1f", e.Virtual.Hours()/seconds)}}
	capAll(reflect.ValueOf(p).Elem(), maxText)
	p.Style = template.CSS(styleSource)
	var page bytes.Buffer
	if err := ensembleTemplate.Execute(&page, p); err != nil {
		return nil, fmt.Errorf("rendering the report: %w", err)
	}
	text := reports.Plain(page.String())
	if len(text) > MaxBytes {
		return nil, fmt.Errorf("rendering the report: %d bytes are more than a report may have", len(text))
	}
	return []byte(text), nil
}

// findings groups findings by property and reason, the cause that was found first first.
func (p *ensemblePage) findings(all []Finding) {
	if n := len(all); n > maxFindings {
		all = all[:maxFindings]
		p.Fewer = fmt.Sprintf("The first %d of %d findings.", maxFindings, n)
	}
	for _, f := range all {
		n := slices.IndexFunc(p.Causes, func(c cause) bool {
			return c.Property == f.Property && c.Reason == strings.TrimPrefix(f.Reason, f.Property+": ")
		})
		if n < 0 {
			n = len(p.Causes)
			p.Causes = append(p.Causes, cause{Property: f.Property, Reason: strings.TrimPrefix(f.Reason, f.Property+": ")})
		}
		p.Causes[n].Findings = append(p.Causes[n].Findings, f)
	}
}

// names are the faults that there are, and those that an ensemble has besides.
func names(e *Ensemble) []string {
	all := slices.Concat(e.Kinds, slices.Collect(maps.Keys(e.Coverage.Meets)), slices.Collect(maps.Keys(e.Coverage.Pairs))) // order: sorted below
	slices.Sort(all)
	all = slices.Compact(all)
	return all[:min(len(all), maxNames)]
}

// heatOf makes a heat map. What never happened at all is named below it, and has neither a row nor a column.
func heatOf(id, title, note, corner string, counts map[string]map[string]int, rows, columns []string) heat {
	h := heat{ID: id, Title: title, Note: note, Corner: corner}
	inColumn := map[string]bool{}
	most, covered := 0, 0
	for _, row := range counts { // order: sums and a set
		for name, n := range row { // order: sums and a set
			most = max(most, n)
			inColumn[name] = inColumn[name] || n > 0
		}
	}
	var never []string
	for _, name := range columns {
		if inColumn[name] {
			h.Columns = append(h.Columns, name)
		}
	}
	for _, name := range rows {
		if len(counts[name]) == 0 {
			if !inColumn[name] {
				never = append(never, name)
			}
			continue
		}
		r := heatRow{Name: name}
		for _, column := range h.Columns {
			n := counts[name][column]
			r.Cells = append(r.Cells, heatCell{n, level(n, most)})
			if n > 0 {
				covered++
			}
		}
		h.Rows = append(h.Rows, r)
	}
	h.Never = strings.Join(never, ", ")
	h.Covered = fmt.Sprintf("%d of %d combinations were seen.", covered, len(h.Rows)*len(h.Columns))
	return h
}

// level is how warm a count is: logarithmic, because counts are.
func level(n, most int) int {
	if n <= 0 {
		return 0
	}
	return 1 + 5*(bits.Len(uint(n))-1)/max(bits.Len(uint(most))-1, 1)
}
