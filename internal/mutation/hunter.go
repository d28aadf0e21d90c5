package mutation

import (
	"context"
	"fmt"
	"slices"
	"time"
)

// A Result is what became of a mutant.
type Result struct {
	Mutant   string   `json:"mutant"`
	Defect   string   `json:"defect"`
	Subject  string   `json:"subject"`
	Bug      string   `json:"bug,omitempty"`
	Breaks   []string `json:"breaks"`
	Survives string   `json:"survives,omitempty"` // the reason that its file gives
	Ranges   []Range  `json:"ranges"`
	// Error says why it could not be tried: it is stale, or does not compile.
	Error string `json:"error,omitempty"`
}

// Killed reports whether a property broke in most of the ranges: their median run is one that finds it.
func (r *Result) Killed() bool { return r.kills() > len(r.Ranges)/2 }

// kills is the number of ranges in which a property broke.
func (r *Result) kills() int {
	n := 0
	for _, x := range r.Ranges {
		if x.Found != nil {
			n++
		}
	}
	return n
}

// Failed reports whether the mutant shows that something is to be done: it could not be tried, it survives, or it is killed although
// its file says that it survives.
func (r *Result) Failed() bool { return r.Error != "" || r.Killed() == (r.Survives != "") }

// killed returns the ranges in which a property broke, the fastest first.
func (r *Result) killed() []Range {
	found := slices.DeleteFunc(slices.Clone(r.Ranges), func(x Range) bool { return x.Found == nil })
	slices.SortStableFunc(found, func(a, b Range) int { return int(a.Runs) - int(b.Runs) })
	return found
}

// Median is the range with the median number of runs, of a mutant that is killed. Ranges without a kill count as infinitely long.
func (r *Result) Median() Range { return r.killed()[len(r.Ranges)/2] }

// Properties are the properties that killed it, the most frequent first.
func (r *Result) Properties() []string {
	count := map[string]int{}
	var names []string
	for _, x := range r.Ranges {
		if x.Found != nil {
			if count[x.Found.Property]++; count[x.Found.Property] == 1 {
				names = append(names, x.Found.Property)
			}
		}
	}
	slices.SortStableFunc(names, func(a, b string) int { return count[b] - count[a] })
	return names
}

// Shrunk is what the finding of the first range was shrunk to, nil for nothing.
func (r *Result) Shrunk() *Shrunk {
	if len(r.Ranges) == 0 || r.Ranges[0].Found == nil {
		return nil
	}
	return r.Ranges[0].Found.Shrunk
}

// Hunt tries mutants, jobs at a time, and calls report with each result, in the order of the mutants. It returns an error if it
// could not go on; that a mutant cannot be built is part of its result.
func (t *Tree) Hunt(ctx context.Context, mutants []*Mutant, jobs int, s Search, report func(*Result) error) error {
	programs, problems, err := t.Build(ctx, mutants)
	if err != nil {
		return err
	}
	return InOrder(ctx, mutants, jobs, func(ctx context.Context, m *Mutant) (*Result, error) {
		r := &Result{Mutant: m.Name, Defect: m.Defect, Subject: m.Subject, Bug: m.Bug, Breaks: m.Breaks, Survives: m.Survives}
		if problem := problems[m]; problem != nil {
			r.Error = problem.Error()
			return r, nil
		}
		return r, t.try(ctx, programs[m], r, s)
	}, report)
}

// try hunts a mutant.
func (t *Tree) try(ctx context.Context, p Program, r *Result, s Search) (err error) {
	if r.Ranges, err = hunt(ctx, p, r.Subject, s); err != nil {
		return err
	}
	r.Error, err = t.control(ctx, p, r)
	return err
}

// control makes the runs that broke a property again, without the mutant. One that breaks something then, too, shows nothing of
// the mutant; problem says so.
func (t *Tree) control(ctx context.Context, p Program, r *Result) (problem string, err error) {
	same := Program{File: p.unchanged, interleave: p.interleave}
	for _, x := range r.Ranges {
		if x.Found == nil {
			continue
		}
		c, err := huntRange(ctx, same, r.Subject, x.Found.Seed, Search{Runs: 1, Timeout: time.Minute}, 0)
		switch {
		case err != nil:
			return "", err
		case c.Error != "":
			return fmt.Sprintf("seed %d has no verdict without the mutant: %s", x.Found.Seed, c.Error), nil
		case c.Found != nil:
			return fmt.Sprintf("seed %d breaks %s without the mutant, too, so it shows nothing: %s", x.Found.Seed, c.Found.Property, c.Found.Message), nil
		}
	}
	return "", nil
}
