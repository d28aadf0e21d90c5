package reports

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// An Ensemble totals the runs of one scenario over a range of seeds.
type Ensemble struct {
	Scenario    string
	Subject     string
	First, Last uint64 // seeds
	Mix         string
	Traces      string // directory of the traces, "" if none were written

	runs, steps uint64
	broke       uint64 // runs that broke the expected property
	expected    string
	virtual     time.Duration
	converging  time.Duration  // the part of virtual after the faults stopped
	informers   Configurations // of all runs
	faults      Run            // only its fault counts are used
	hashes      map[uint64]bool
	properties  int
	unjudged    []Unjudged
	unchecked   int     // expectations of the script
	search      *Search // of all runs with the strategy exhaustive
}

// Add adds a run that passed.
func (e *Ensemble) Add(r *Run) {
	if e.hashes == nil {
		e.hashes = map[uint64]bool{}
	}
	e.runs++
	if r.Violation != nil {
		e.broke++
		e.expected = r.Expected
	}
	if r.Search != nil {
		e.search = r.Search.and(e.search)
		e.steps += r.Search.Steps
	} else {
		e.steps += r.Steps
	}
	e.virtual += r.Virtual
	e.converging += r.Converging
	e.informers.Add(r.Informers)
	e.properties, e.unjudged, e.unchecked = len(r.Properties), r.Unjudged, r.Unchecked
	e.hashes[r.Hash] = true
	for _, f := range r.Faults {
		e.faults.countFaults(f.Name, f.Count)
	}
}

// Runs returns the number of runs added.
func (e *Ensemble) Runs() uint64 { return e.runs }

// Progress sums up the runs so far in a few words.
func (e *Ensemble) Progress() string {
	return fmt.Sprintf("%d faults, %d steps", e.faults.FaultTotal(), e.steps)
}

// WriteText renders the totals for a terminal; took is the real time spent.
func (e *Ensemble) WriteText(w io.Writer, took time.Duration) error {
	var b strings.Builder
	fmt.Fprintf(&b, "scenario %s · subject %s · seeds %d..%d", PlainLine(e.Scenario), PlainLine(e.Subject), e.First, e.Last)
	if e.Mix != "" {
		fmt.Fprintf(&b, " · fault mix %s", PlainLine(e.Mix))
	}
	switch {
	case e.search != nil && e.broke == 0:
		fmt.Fprintf(&b, "\nPASS  %d searches, %d properties held after every step of every run\n", e.runs, e.properties)
	case e.broke == 0:
		fmt.Fprintf(&b, "\nPASS  %d runs, %d properties held after every step of each\n", e.runs, e.properties)
	default:
		fmt.Fprintf(&b, "\nPASS  %d runs, of which %d broke %s, as expected; all other properties held\n", e.runs, e.broke, e.expected)
	}
	fmt.Fprintf(&b, "      %d steps · %s · %d faults injected · %d distinct runs\n", e.steps, virtualTime(e.virtual, e.converging, time.Second), e.faults.FaultTotal(), len(e.hashes))
	if e.search != nil {
		e.search.write(&b, false)
	}
	if informers := e.informers.String(); informers != "" {
		fmt.Fprintf(&b, "      informers: %s\n", informers)
	}
	if kinds := faultKinds(&e.faults); kinds != "" {
		fmt.Fprintf(&b, "      %s\n", kinds)
	}
	fmt.Fprintf(&b, "      %s, %.0f steps/s\n", took.Round(time.Millisecond), float64(e.steps)/took.Seconds())
	b.WriteString(Unchecked(e.unchecked, "the script"))
	for i := range e.unjudged {
		fmt.Fprintf(&b, "      %s\n", e.unjudged[i])
	}
	if e.Traces != "" {
		fmt.Fprintf(&b, "      traces in %s\n", PlainLine(e.Traces))
	}
	_, err := io.WriteString(w, Plain(b.String()))
	return err
}
