package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/informersim/informersim/cmd/internal/guests"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/timeline"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects/clientgo"
)

// A finding counts, whatever comes of what is done with it afterwards: no error of this file's keeps it from being reported.

// maxRepeats is how often the run of a finding is made again, until it comes out the same.
const maxRepeats = 5

// explain reports a failed run, with the story from its trace at path. If the trace was not written, path is "", and explain makes the
// run again to write it.
func (r *runner) explain(res *reports.Run, path string) reports.Report {
	report := reports.Report{Run: res, Replay: []string{r.commandLine(res)}}
	if crashed(res) {
		report.Notes = []string{"no trace is kept: it went with the process"}
		if r.subject.Name == clientgo.Kind.Name {
			there := *r.flags
			there.subject = guests.BuiltIn
			report.Notes[0] += "; with --subject " + there.subject + " client-go has one of its own, whose end leaves a trace"
			if hasGuest(r.subject) { // so it was tried
				report.Notes[0] = "not deterministic: " + report.Notes[0] + ", and there the run did not end so"
			}
			report.Replay = append(report.Replay, (&runner{flags: &there, file: r.file}).commandLine(res))
		}
		return report
	}
	if path == "" {
		if path, report.Notes = r.repeat(res); path == "" {
			return report
		}
	} else if !r.traceTarget(path).Regular() { // a device or a FIFO: what was written is gone
		return report
	}
	story, err := storyOf(res, path)
	if err != nil {
		r.warn("the trace cannot be read: %v", err)
		return report
	}
	report.Story, r.traced = story, path
	r.addTwin(&report, path)
	report.Replay = append([]string{"informersim replay " + reports.ShellPath(path)}, report.Replay...)
	return report
}

func (r *runner) warn(format string, args ...any) {
	for n, arg := range args {
		if err, is := arg.(error); is && errors.Is(err, context.Canceled) {
			args[n] = "interrupted"
		}
	}
	fmt.Fprintf(r.c.ErrOrStderr(), "warning: "+format+"\n", args...)
}

// storyOf tells the story of a violation from a trace, unless that is the trace of another run.
func storyOf(res *reports.Run, path string) ([]reports.Line, error) {
	if res.Violation == nil {
		return nil, nil
	}
	t, err := timelineOf(path)
	if err != nil {
		return nil, err
	}
	if t.End != nil && t.End.Hash != sim.FormatHash(res.Hash) {
		return nil, nil
	}
	return tell(res, t), nil
}

// tell returns the story of a violation. One that brings no proof gets the way of its object for it.
func tell(res *reports.Run, t *timeline.Timeline) []reports.Line {
	v := res.Violation
	if t.Conclusion.Violation == nil { // an older program wrote the trace
		t.Conclusion.Violation = v
	}
	if len(v.Because) == 0 {
		v.Because = t.Because()
	}
	of := t.Object(v.Key)
	if all := t.Involved(); of == nil && t.Named() && len(all) > 0 {
		of = all[0]
	}
	return t.Story(of, v.Step)
}

// repeat makes a failed run again, with a trace, and returns the trace of the finding, "" if there is none, and what is to be said
// about it. If the run does not repeat, it is not deterministic: repeat also keeps the trace of a run of the seed that was another one.
func (r *runner) repeat(res *reports.Run) (path string, notes []string) {
	base := res.FileName()
	path, differs := base+traceSuffix, base+".differs"+traceSuffix
	alike := base + ".alike" + traceSuffix // breaks the same property at the end of another run
	kept := map[string]string{}            // by path, the verdict
	repeats := *r
	repeats.repeats = true
	n := 1
	for ; n <= maxRepeats; n++ {
		again, err := repeats.once(r.c.Context(), res.Seed, path)
		if err != nil {
			r.warn("no trace is kept: %v", err)
			break
		}
		if again.Hash == res.Hash && again.Steps == res.Steps && again.Verdict() == res.Verdict() {
			if n == 1 {
				return path, nil
			}
			return path, []string{fmt.Sprintf("not deterministic: seed %d did not repeat in %s, and then it did. %s", res.Seed, reports.Counted(n-1, "run"), listOf(kept))}
		}
		to := differs
		if again.Verdict() == res.Verdict() {
			to = alike
		}
		if kept[to] == "" {
			if err := r.move(path, to); err != nil {
				r.warn("no trace is kept: %v", err)
				break
			}
			kept[to] = again.Verdict()
		}
	}
	if n == 1 {
		return "", nil
	}
	note := fmt.Sprintf("not deterministic: the finding stands, but seed %d did not repeat in %s. ", res.Seed, reports.Counted(n-1, "run"))
	if n > maxRepeats && kept[path] == "" {
		os.Remove(path) // of the last run, which is no other than those that are kept
	}
	if kept[alike] == "" {
		return "", []string{note + "None of them had this finding. " + listOf(kept)}
	}
	if err := r.move(alike, path); err != nil {
		return alike, []string{note + listOf(kept)}
	}
	kept[path] = kept[alike]
	delete(kept, alike)
	return path, []string{note + "Another way to the same end is in the trace. " + listOf(kept)}
}

const traceSuffix = ".trace.jsonl"

// listOf lists traces with their verdicts.
func listOf(kept map[string]string) string {
	var parts []string
	for path, verdict := range kept { // order: sorted below
		parts = append(parts, fmt.Sprintf("%s: %s", path, verdict))
	}
	if len(parts) == 0 {
		return ""
	}
	slices.Sort(parts)
	return "Traces: " + strings.Join(parts, "; ")
}

// move renames a trace, over nothing but a trace.
func (r *runner) move(from, to string) error {
	if err := r.traceTarget(to).Check(); err != nil {
		return err
	}
	return os.Rename(from, to)
}

// lostTrace is the error of a run that came to its end but whose trace could not be written.
type lostTrace struct{ err error }

func (e *lostTrace) Error() string { return e.err.Error() }
func (e *lostTrace) Unwrap() error { return e.err }

// decided returns a failed run without the error that its trace could not be written.
func (r *runner) decided(res *scenarios.Result, err error) (*scenarios.Result, error) {
	if errors.As(err, new(*lostTrace)) && res != nil && !res.Passed() {
		r.warn("no trace is kept: %v", err)
		return res, nil
	}
	return res, err
}
