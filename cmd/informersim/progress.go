package main

import (
	"fmt"
	"io"
	"math"
	"os"
	"sort"
	"strings"
	"time"

	"github.com/schollz/progressbar/v3"
	"golang.org/x/term"

	"github.com/informersim/informersim/scenarios"
)

// progress is the bar that a terminal shows while seeds run; elsewhere it shows nothing.
type progress struct{ bar *progressbar.ProgressBar }

func newProgress(w io.Writer, seeds seedRange) *progress {
	f, ok := w.(*os.File)
	if !ok || !term.IsTerminal(int(f.Fd())) {
		return &progress{}
	}
	n := seeds.last - seeds.first
	if n >= math.MaxInt64 {
		n = math.MaxInt64 - 1
	}
	return &progress{bar: progressbar.NewOptions64(int64(n)+1,
		progressbar.OptionSetWriter(w), progressbar.OptionSetDescription("seeds"), progressbar.OptionShowCount(),
		progressbar.OptionShowIts(), progressbar.OptionSetItsString("seeds"), progressbar.OptionThrottle(100*time.Millisecond),
		progressbar.OptionClearOnFinish(), progressbar.OptionSetPredictTime(true))}
}

func (p *progress) done(s sums) {
	if p.bar == nil {
		return
	}
	p.bar.Describe(fmt.Sprintf("%d faults, %d steps", s.faultTotal, s.steps))
	_ = p.bar.Add(1) // a display that fails is no reason to stop
}

func (p *progress) close() {
	if p.bar != nil {
		_ = p.bar.Finish()
		p.bar = nil
	}
}

// sums adds up the runs of a range of seeds.
type sums struct {
	runs, steps uint64
	broke       uint64 // runs that broke the property that the scenario says it breaks
	expected    string
	virtual     time.Duration
	faultTotal  int
	faults      map[string]int
	hashes      map[uint64]bool
	properties  []string
	commits     int
	frames      int
}

func (s *sums) add(r *scenarios.Result) {
	if s.faults == nil {
		s.faults, s.hashes = map[string]int{}, map[uint64]bool{}
	}
	s.runs++
	if r.Violation != nil {
		s.broke++
		s.expected = r.Expected
	}
	s.steps += r.Steps
	s.virtual += r.Virtual
	s.commits += r.Commits
	s.frames += r.Frames
	s.properties = r.Properties
	s.hashes[r.Hash] = true
	for _, f := range r.Faults {
		s.faults[f.Name] += f.Count
		s.faultTotal += f.Count
	}
}

func (s *sums) print(w io.Writer, r *runner, took time.Duration) {
	fmt.Fprintf(w, "scenario %s · subject %s · seeds %d..%d", r.scenario.Name, r.subject.Name, r.seeds.first, r.seeds.last)
	if r.mix != nil {
		fmt.Fprintf(w, " · fault mix %s", r.mix.Name)
	}
	if s.broke == 0 {
		fmt.Fprintf(w, "\nPASS  %d runs, %d properties held after every step of each\n", s.runs, len(s.properties))
	} else {
		fmt.Fprintf(w, "\nPASS  %d runs, of which %d broke %s, as the scenario says; all else held\n", s.runs, s.broke, s.expected)
	}
	fmt.Fprintf(w, "      %d steps · %s of virtual time · %d faults injected · %d distinct runs\n", s.steps, s.virtual.Round(time.Second), s.faultTotal, len(s.hashes))
	names := make([]string, 0, len(s.faults))
	for n := range s.faults {
		names = append(names, n)
	}
	sort.Strings(names)
	for i, n := range names {
		names[i] = fmt.Sprintf("%s ×%d", n, s.faults[n])
	}
	if len(names) > 0 {
		fmt.Fprintf(w, "      %s\n", strings.Join(names, ", "))
	}
	fmt.Fprintf(w, "      %s, %.0f steps/s\n", took.Round(time.Millisecond), float64(s.steps)/took.Seconds())
	if r.flags.trace != "" {
		fmt.Fprintf(w, "      traces in %s\n", r.flags.trace)
	}
}
