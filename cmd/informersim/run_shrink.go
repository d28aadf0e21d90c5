package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios/minimal"
)

// checkShrink refuses a --shrink that cannot be meant.
func checkShrink(d time.Duration) error {
	if d < 0 {
		return fmt.Errorf("--shrink %v is negative: use a duration like 30s, or 0 for not at all", d)
	}
	return nil
}

// printFailed prints a run that may have failed; with --shrink, what is left of it in its place. In JSON, that is another object.
func (r *runner) printFailed(report reports.Report) error {
	if !r.flags.json && r.printSmaller(report) {
		return broken{report.Run.Verdict()}
	}
	if err := r.page(&report); err != nil {
		return err
	}
	err := r.print(report)
	if r.flags.json {
		r.printSmaller(report)
	}
	return err
}

// printSmaller shrinks a run that failed, if it is to be, and prints what is left. It returns false if there is nothing to print.
func (r *runner) printSmaller(report reports.Report) bool {
	if r.flags.shrink == 0 || report.Run.Passed() {
		return false
	}
	small, err := r.shrunk(report.Run)
	if err == nil {
		err = r.showSmaller(small, report)
	}
	if err != nil {
		r.warn("the run is not shrunk: %v", err)
	}
	return err == nil
}

// shrunk shrinks a run that failed, within the time of --shrink.
func (r *runner) shrunk(run *reports.Run) (*smaller, error) {
	switch {
	case run.Violation == nil:
		return nil, errors.New("it breaks no property")
	case crashed(run):
		return nil, errors.New("it ends its process")
	}
	there := *r
	var err error
	if there.subject, err = forSearch(r.c.Context(), r.subject, run.Violation); err != nil {
		return nil, err
	}
	o := there.options(run.Seed)
	var trace bytes.Buffer
	o.Trace = &trace
	res, err := there.play(r.c.Context(), o)
	switch {
	case err != nil:
		return nil, err
	case res.Violation == nil || res.Violation.Property != run.Violation.Property:
		return nil, errors.New("it did not repeat")
	}
	found, err := foundIn(r.scenario.Name, trace.Bytes(), o, res.Violation)
	if err != nil {
		return nil, err
	}
	return shrunkWithin(r.c.Context(), r.flags.shrink, found)
}

// shrunkWithin is shrunk within a real time.
func shrunkWithin(ctx context.Context, limit time.Duration, f *minimal.Found) (*smaller, error) {
	small, err := shrunk(ctx, f, minimal.Budget{}, timeLimit(limit))
	if errors.Is(err, context.DeadlineExceeded) {
		err = fmt.Errorf("%v is too short to repeat the run once; raise --shrink", limit)
	}
	return small, err
}

// showSmaller writes what is left of a run to files, and prints it, with the commands that repeat the run itself as well.
func (r *runner) showSmaller(small *smaller, was reports.Report) error {
	base := was.Run.FileName() + "-min"
	trace, script := r.traceTarget(base+traceSuffix), scenarioTarget("--shrink", base+".sim", r.flags.force, r.file, r.flags.mix)
	trace.Flag = "--shrink"
	if !small.Transcript() {
		script.Path = ""
	}
	again, err := small.write(r.c.Context(), trace, script)
	if err != nil {
		return err
	}
	again = append(again, was.Replay...)
	page := ""
	if r.flags.report != "" {
		if err := r.storePage(small.trace); err != nil {
			r.warn("no report is written: %v", err)
		} else {
			page = r.flags.report
		}
	}
	if r.flags.json {
		return reports.WriteJSON(r.c.OutOrStdout(), reports.Report{Run: small.run, Story: small.story, Twin: small.twin, Replay: again, Page: page, Notes: was.Notes})
	}
	return small.print(r.c.OutOrStdout(), small.goOn(r.c.Context(), trace.Path), again, page, was.Notes...)
}

// goOn says how to go on with a search that --shrink has limited, or that it was interrupted.
func (s *smaller) goOn(ctx context.Context, trace string) string {
	if s.Tries >= minimal.DefaultTries {
		return unlessInterrupted(ctx, "to go on: informersim shrink "+reports.ShellPath(trace))
	}
	return unlessInterrupted(ctx, "raise --shrink")
}

// unlessInterrupted returns how to go on with a search that has come to its limit, or that somebody has interrupted it.
func unlessInterrupted(ctx context.Context, how string) string {
	if ctx.Err() != nil {
		return "it was interrupted"
	}
	return how
}
