package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"path"
	"strings"

	"github.com/informersim/informersim/cmd/internal/campaign"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/minimal"
)

// foundRun is a finding with its files.
type foundRun struct {
	campaign.Finding
	Files map[string][]byte // by path within its folder
	Hash  uint64            // of the seed's run
}

// The files of a finding.
const (
	scenarioFile = "scenario.sim"
	traceFile    = "run.trace.jsonl"
	storyFile    = "story.txt"
	pageFile     = "report.html"
	readmeFile   = "README.md"
	originals    = "original"
)

// shrunk shrinks a run that failed, in a process of its own if the subject needs one. When --for is over or Ctrl-C comes, it keeps
// what it has got to.
func (z *fuzzer) shrunk(run *reports.Run) *foundRun {
	x := z.tryToShrink(run)
	switch {
	case x.Message != "" && x.Property != run.Verdict():
		x.note("not deterministic: the run of the seed broke %s first, and %s when it was made again", run.Verdict(), x.Property)
	case x.Hash != 0 && x.Hash != run.Hash && !crashed(run):
		x.note("not deterministic: another run of the seed broke the same property")
	}
	if x.Message == "" { // nothing more is known than what the run said
		x.about(run)
		x.Files[storyFile] = []byte(text(reports.Report{Run: run, Replay: x.Again}))
	}
	x.Seed, x.Scenario, x.Strategy, x.Mix = run.Seed, run.Scenario, run.Strategy, run.Mix
	x.SetName()
	x.Files[readmeFile] = []byte(readme(x))
	return x
}

func (z *fuzzer) tryToShrink(run *reports.Run) *foundRun {
	ctx := z.c.Context()
	if z.subject.Host == nil {
		return z.find(ctx, run.Seed)
	}
	if run.Violation != nil {
		if guest, err := forSearch(ctx, z.subject, run.Violation); err == nil && isGuest(guest) {
			there := *z
			there.subject = guest
			return there.find(ctx, run.Seed)
		}
	}
	w := &worker{start: func() (*child, error) { return z.startChild(ctx) }}
	defer w.end()
	// An interrupted child still answers with what it has got to.
	a, err := w.ask(context.WithoutCancel(ctx), fmt.Sprintf("%s%d", toShrink, run.Seed), run.Seed, z.seedLine(run.Seed))
	if err == nil && a.Found != nil {
		return a.Found
	}
	x := z.original(run.Seed)
	switch {
	case err != nil:
		x.note("not shrunk: %v", err)
	case crashed(run):
		x.note("not shrunk, and without a trace: the run ends its process")
	default:
		x.note("not shrunk: a run of the seed has ended its process: %s", a.Run.Violation.Message)
	}
	return x
}

// original returns a finding with the scenario of its seed, and nothing else.
func (z *fuzzer) original(seed uint64) *foundRun {
	x := &foundRun{Files: map[string][]byte{}}
	s, o, err := z.drawn(seed)
	if err != nil {
		x.note("its scenario cannot be made: %v", err)
		return x
	}
	file := path.Join(originals, s.Name+".sim")
	x.Files[file] = []byte(s.Text())
	r := &runner{file: file, flags: &runFlags{subject: z.subject.Name, interleave: z.flags.interleave}}
	if o.Mix != nil {
		r.flags.mix = o.Mix.Name
	}
	x.Again = []string{r.commandLine(&reports.Run{Seed: seed, Strategy: o.StrategyName()})}
	return x
}

// find makes the run of a seed again and shrinks it.
func (z *fuzzer) find(ctx context.Context, seed uint64) *foundRun {
	x := z.original(seed)
	// An interrupted search still has the trace of what it found: that is one run more, and its time is limited.
	res, trace, err := z.again(context.WithoutCancel(ctx), seed)
	switch {
	case err != nil:
		x.note("not shrunk: %v", err)
		return x
	case res.Passed():
		x.note("not deterministic: the run of the seed failed once, and %d times it passed", maxRepeats)
		return x
	}
	x.Hash = res.Hash
	x.about(&res.Run)
	_, o, err := z.drawn(seed)
	var f *minimal.Found
	if err == nil && res.Violation != nil {
		f, err = foundIn(traceFile, trace, o, res.Violation)
	}
	switch {
	case err != nil:
		x.note("not shrunk: %v", err)
	case f == nil:
		x.note("not shrunk: no property broke")
	}
	if f == nil {
		x.asItIs(&res.Run, trace)
		return x
	}
	var notShrunk error
	if z.flags.shrink > 0 {
		var small *smaller
		if small, notShrunk = shrunkWithin(ctx, z.flags.shrink, f); notShrunk == nil {
			x.shrunkTo(ctx, small)
			return x
		}
		x.note("not shrunk: %v", notShrunk)
	}
	w, trace, err := twinned(context.WithoutCancel(ctx), timeLimit(twinTime), f, trace)
	if err != nil && (notShrunk == nil || err.Error() != notShrunk.Error()) { // that this process can make no other run is told once
		x.note("no nearest run that passes: %v", err)
	}
	x.Files[scenarioFile], x.Files[traceFile] = []byte(f.Scenario.Text()), trace
	x.Again = append([]string{"informersim replay " + traceFile}, x.Again...)
	x.Files[storyFile] = []byte(text(reports.Report{Run: &res.Run, Twin: w, Replay: x.Again, Page: pageFile, Notes: x.Notes}))
	x.page()
	return x
}

// asItIs keeps a run that cannot be looked into any further.
func (x *foundRun) asItIs(run *reports.Run, trace []byte) {
	x.Files[traceFile], x.Files[storyFile] = trace, []byte(text(reports.Report{Run: run, Replay: x.Again, Notes: x.Notes}))
}

// again makes the run of a seed that has failed until it fails again.
func (z *fuzzer) again(ctx context.Context, seed uint64) (res *scenarios.Result, trace []byte, err error) {
	for range maxRepeats {
		var tape bytes.Buffer
		if res, err = z.once(ctx, seed, &tape); err != nil || !res.Passed() {
			return res, tape.Bytes(), err
		}
	}
	return res, nil, nil
}

func (x *foundRun) note(format string, args ...any) {
	x.Notes = append(x.Notes, fmt.Sprintf(format, args...))
}

// about says what broke in a run.
func (x *foundRun) about(run *reports.Run) {
	x.Property, x.Message, x.Reason = run.Verdict(), run.Failure, run.Verdict()
	if run.Violation != nil {
		x.Message, x.Reason = run.Violation.Message, minimal.Reason(run.Violation)
	}
	for _, m := range run.Mismatches {
		x.Message += m.Message
	}
	if x.Message == "" {
		x.Message = run.Verdict()
	}
}

// shrunkTo takes over what is left of the run.
func (x *foundRun) shrunkTo(ctx context.Context, s *smaller) {
	x.about(s.run)
	x.Shape = s.Shape()
	if s.Flaky {
		x.note("not deterministic: what is left breaks the property sometimes")
	}
	x.Size, x.Was, x.Complete = s.After.String(), s.Before.String(), s.Complete
	x.Files[scenarioFile], x.Files[traceFile] = []byte(s.Scenario.Text()), s.trace
	again := []string{"informersim replay " + traceFile}
	if s.Transcript() {
		again = append([]string{s.commandLine(scenarioFile)}, again...)
	}
	x.Again = append(again, x.Again...)
	var b strings.Builder
	if err := s.print(&b, s.goOn(ctx, traceFile), x.Again, pageFile); err != nil {
		x.note("no story: %v", err)
	}
	x.Files[storyFile] = []byte(b.String())
	x.page()
}

// page adds the report of the trace.
func (x *foundRun) page() {
	page, err := rendered(traceFile, x.Files[traceFile])
	if err != nil {
		x.note("no report: %v", err)
		return
	}
	x.Files[pageFile] = page
}

// text renders a report.
func text(report reports.Report) string {
	var b strings.Builder
	if err := reports.WriteText(&b, report); err != nil {
		return err.Error()
	}
	return b.String()
}

// readme is the README.md of a finding.
func readme(x *foundRun) string {
	var b strings.Builder
	fmt.Fprintf(&b, "# %s\n\n%s\n", x.Name, indented(reports.Plain(x.Message)))
	fmt.Fprintf(&b, "Seed %d of `informersim fuzz` found it", x.Seed)
	if x.Size != "" {
		fmt.Fprintf(&b, ", in a run of %s; %s are left", x.Was, x.Size)
		if !x.Complete {
			b.WriteString(", and more might be removed")
		}
	}
	fmt.Fprintf(&b, ".\nIn this folder, these commands show it again:\n\n%s\n", indented(strings.Join(x.Again, "\n")))
	if x.Shape != "" {
		fmt.Fprintf(&b, "What its like has in common: %s.\n", reports.PlainLine(x.Shape))
	}
	for _, note := range x.Notes {
		fmt.Fprintf(&b, "\n%s\n", reports.Plain(note))
	}
	return b.String()
}

// print prints a new finding, which is kept at path, "" for nowhere.
func (z *fuzzer) print(x *foundRun, path string) error {
	out := z.c.OutOrStdout()
	if z.flags.json {
		return x.WriteJSON(out)
	}
	_, err := fmt.Fprintf(out, "%s  seed %d\n\n%s\n", x.Name, x.Seed, x.Files[storyFile])
	if path != "" {
		_, perr := fmt.Fprintf(out, "  in the folder %s\n\n", reports.ShellPath(path))
		err = errors.Join(err, perr)
	}
	return err
}
