package main

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/faultmix"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/timeline"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/minimal"
	"github.com/informersim/informersim/scenarios/property"
	"github.com/informersim/informersim/sim"
)

// shrinkFlags are the flags of `informersim shrink`.
type shrinkFlags struct {
	run   runFlags
	out   string
	tries int
}

func newShrinkCommand() *cobra.Command {
	f := &shrinkFlags{}
	c := &cobra.Command{
		Use:   "shrink [TRACE|FILE]",
		Short: "Find the smallest run that breaks the same property for the same reason",
		Long: `shrink takes a run that breaks a property, as a trace or as a scenario with the seed and the fault mix of the run (the built-in
one without FILE), and drops commands, objects, handlers, arguments, faults and picks of the schedule, shortens waits, and puts one
object in the place of another, as long as the same property breaks for the same reason. It prints what is left as a script, and the
verdict of that run.

Where no schedule is needed, what is left fails as a transcript and is written as a scenario (to -o, or SCENARIO-min.sim).
Otherwise the schedule is in the trace, which is written in any case (to --trace, or SCENARIO-min.trace.jsonl).

Exit codes: 0 a smaller run was written, or the run is as small as it can be, 2 bad input, a run that breaks no property,
or a trace of which this program makes another run, 3 the run does not repeat.`,
		Example: `  informersim shrink builtin-seed7.trace.jsonl
  informersim shrink my.sim --seed 7 --fault-mix storm -o smaller.sim`,
		Args: cli.Usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return f.shrink(c, args) },
	}
	c.Flags().StringVar(&f.run.seed, "seed", "", "the seed of the run, with FILE")
	c.Flags().StringVar(&f.run.strategy, "strategy", "", "how its choices were picked: "+strategyNames()+" (default fifo; random with --seed or --fault-mix)")
	c.Flags().StringVar(&f.run.mix, "fault-mix", "", "its faults: "+strings.Join(faultmix.Names(), ", ")+", or a YAML or JSON `file`")
	c.Flags().StringVar(&f.run.subject, "subject", defaultSubject, subjectHelp())
	c.Flags().StringVarP(&f.out, "out", "o", "", "write what is left to this `file`, as a scenario")
	c.Flags().StringVar(&f.run.trace, "trace", "", "write the trace of the smaller run to this `file`")
	c.Flags().IntVar(&f.tries, "tries", minimal.DefaultTries, "the number of runs that may be tried")
	c.Flags().BoolVar(&f.run.force, "force", false, forceHelp)
	return c
}

func (f *shrinkFlags) shrink(c *cobra.Command, args []string) error {
	if err := cli.NotEmpty(c, "seed", "strategy", "fault-mix", "trace", "out"); err != nil {
		return err
	}
	if f.tries < 1 {
		return fmt.Errorf("--tries %d: at least 1 run has to be tried", f.tries)
	}
	found, err := f.found(c, args)
	if err != nil {
		return err
	}
	inputs := append([]string{f.run.mix}, args...)
	name := found.Scenario.Name + "-min"
	trace := traceTarget(cmp.Or(f.run.trace, name+".trace.jsonl"), f.run.force, inputs...)
	trace.Default = f.run.trace == ""
	script := scenarioTarget("-o", cmp.Or(f.out, name+".sim"), f.run.force, inputs...)
	script.Default = f.out == ""
	for _, target := range []outfile.Target{trace, script} {
		if err := target.Check(); err != nil {
			return err
		}
	}
	small, err := shrunk(c.Context(), found, minimal.Budget{Tries: f.tries}, 0)
	if err != nil {
		return err
	}
	if f.out == "" && !small.Transcript() {
		script.Path = ""
	}
	// After an interrupt, what was found so far is still the user's.
	again, err := small.write(c.Context(), trace, script)
	if err == nil {
		err = small.print(c.OutOrStdout(), unlessInterrupted(c.Context(), "raise --tries"), again, "")
	}
	return errors.Join(err, c.Context().Err())
}

// found returns the run that a trace or a scenario's seed makes.
func (f *shrinkFlags) found(c *cobra.Command, args []string) (*minimal.Found, error) {
	if len(args) > 0 && outfile.IsTrace(args[0]) {
		for _, flag := range []string{"seed", "strategy", "fault-mix", "subject"} {
			if c.Flags().Changed(flag) {
				return nil, fmt.Errorf("--%s: %s is a trace, which says that by itself", flag, args[0])
			}
		}
		return foundByReplay(c, args[0])
	}
	seeds, err := parseSeeds(f.run.seed)
	if err != nil {
		return nil, err
	}
	if seeds.many() {
		return nil, fmt.Errorf("--seed %s: shrink takes the seed of one run", f.run.seed)
	}
	r, err := f.run.load(c, args, seeds)
	if err != nil {
		return nil, err
	}
	name := cmp.Or(r.file, "the built-in scenario")
	asked := r.subject
	if r.subject, err = hardy(c.Context(), asked); err != nil {
		return nil, err
	}
	o := r.options(seeds.first)
	o.Subject = o.Subject.OfMany()
	var trace bytes.Buffer
	o.Trace = &trace
	res, err := r.play(c.Context(), o)
	if err != nil {
		return nil, err
	}
	if res.Violation == nil {
		return nil, fmt.Errorf("%s breaks no property with --seed %d: there is nothing to shrink; give the --seed, --fault-mix and --subject of a run that fails", name, seeds.first)
	}
	if o.Subject, err = forSearch(c.Context(), asked, res.Violation); err != nil {
		return nil, err
	}
	return foundIn(name, trace.Bytes(), o, res.Violation)
}

// foundByReplay returns the run of a trace, which is made again to see what it breaks.
func foundByReplay(c *cobra.Command, path string) (*minimal.Found, error) {
	data, err := traceText(path)
	if err != nil {
		return nil, err
	}
	tr, err := sim.NewTraceReader(path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	h := tr.Header()
	if h.Subject == simtestSubject {
		return nil, fmt.Errorf("%s is the trace of a Go test, which makes its failures simpler by itself; for longer: go test -simtest.shrink=10m", path)
	}
	subject, err := subjectNamed(c.Context(), h.Subject)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	own := versionsWith(subject.Name)
	o := scenarios.Options{Properties: properties.All(), Versions: own}
	if o.Subject, err = hardy(c.Context(), subject); err != nil {
		return nil, err
	}
	o.Subject = o.Subject.OfMany()
	res, err := scenarios.Replay(c.Context(), tr, o)
	var cut *sim.TraceError
	var other *sim.DivergedError
	switch {
	case errors.As(err, &other) && !reports.SameBuild(h.Versions, own):
		return nil, fmt.Errorf(
			"%s: this program makes another run of it, from step %d on, and what it shrinks is what it can make (written by %s; this is %s): informersim replay %s shows what differs, and whether the property still breaks",
			path, other.Step, reports.Build(h.Versions), reports.Build(own), reports.ShellPath(path))
	case errors.As(err, &cut) && cut.Cut != sim.NotCut:
		return nil, fmt.Errorf("%w: informersim replay plays what is there", err)
	case errors.As(err, &cut):
		return nil, err
	case err != nil:
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if res.Violation == nil {
		return nil, fmt.Errorf("%s: the run breaks no property: there is nothing to shrink", path)
	}
	if o.Subject, err = forSearch(c.Context(), subject, res.Violation); err != nil {
		return nil, err
	}
	return foundIn(path, data, o, res.Violation)
}

// foundIn returns the run of a trace that breaks a property.
func foundIn(name string, trace []byte, o scenarios.Options, broken *reports.Violation) (*minimal.Found, error) {
	tr, err := sim.NewTraceReader(name, bytes.NewReader(trace))
	if err != nil {
		return nil, err
	}
	sc, o, err := scenarios.OfTrace(tr.Header(), o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	picks, err := sim.ReadPicks(tr)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &minimal.Found{Scenario: sc, Options: o, Picks: picks, Violation: broken}, nil
}

// againTime limits the smallest run when it is made once more, in real time.
const againTime = time.Minute

// smaller is what is left of a run that was shrunk.
type smaller struct {
	*minimal.Result
	run   *reports.Run
	trace []byte
	story []reports.Line
	twin  *reports.Twin // nil if it was not found out
}

// shrunk looks for the smallest run that breaks as another does, and makes it once more, with its trace. The search ends with ctx, and after limit; even a step that
// does not end makes it no longer.
func shrunk(ctx context.Context, f *minimal.Found, b minimal.Budget, limit timeLimit) (*smaller, error) {
	seed := f.Options.Seed
	small, err := within(ctx, limit, seed, func(ctx context.Context) (*minimal.Result, error) {
		small, err := minimal.Search(ctx, *f, b)
		if errors.Is(err, minimal.ErrNotRepeated) && ctx.Err() != nil {
			err = ctx.Err()
		}
		return small, err
	})
	if errors.Is(err, minimal.ErrNotRepeated) {
		return nil, &sim.DivergedError{Step: f.Violation.Step, Why: err.Error()}
	}
	if err != nil {
		return nil, err
	}
	var tape bytes.Buffer
	o := small.Options
	o.Trace, o.ShrunkFrom = &tape, small.Before.String()
	var res *scenarios.Result
	ctx = context.WithoutCancel(ctx) // what is found is made once more in any case
	for n := 0; n == 0 || small.Flaky && n <= maxRepeats && res.Violation == nil; n++ {
		tape.Reset()
		res, err = within(ctx, max(limit, timeLimit(againTime)), seed, func(ctx context.Context) (*scenarios.Result, error) { return scenarios.Run(ctx, small.Scenario, o) })
		if err != nil {
			return nil, err
		}
	}
	if res.Violation == nil {
		return nil, &sim.DivergedError{Why: "the smaller run broke the property once, and then it did not"}
	}
	if o.Subject.Many != nil && !isGuest(o.Subject) && res.Violation.Property == property.NoDeadlock {
		if err := breaksElsewhere(ctx, tape.Bytes()); err != nil {
			return nil, err
		}
	}
	tr, err := sim.NewTraceReader("the smaller run", bytes.NewReader(tape.Bytes()))
	if err != nil {
		return nil, err
	}
	t, err := timeline.Read(tr)
	if err != nil {
		return nil, err
	}
	s := &smaller{Result: small, run: &res.Run, trace: tape.Bytes(), story: tell(&res.Run, t)}
	left := &minimal.Found{Scenario: small.Scenario, Options: small.Options, Picks: small.Options.Picks, Violation: res.Violation}
	if w, with, err := twinned(ctx, timeLimit(twinTime), left, s.trace); err == nil { // what was shrunk counts
		s.twin, s.trace = w, with
	}
	return s, nil
}

// write writes the run to its files, no script if that has no path, and returns the commands that repeat it.
func (s *smaller) write(ctx context.Context, trace, script outfile.Target) (again []string, err error) {
	ctx = context.WithoutCancel(ctx)
	if err := trace.Write(ctx, s.trace); err != nil {
		return nil, err
	}
	again = []string{"informersim replay " + reports.ShellPath(trace.Path)}
	if script.Path != "" {
		if err := script.Write(ctx, []byte(s.Scenario.Text())); err != nil {
			return nil, err
		}
	}
	if s.Transcript() {
		again = append(again, s.commandLine(script.Path))
	}
	return again, nil
}

// commandLine returns the command that plays what is left, as a transcript, from a file.
func (s *smaller) commandLine(file string) string {
	r := &runner{flags: &runFlags{subject: s.Options.Subject.Name}, file: file}
	return r.commandLine(s.run)
}

// print prints what is left and its verdict, with the commands that repeat it. more says how to go on if more might be removed.
func (s *smaller) print(out io.Writer, more string, replay []string, page string, notes ...string) error {
	fmt.Fprintf(out, "%s, was %s\n", s.After, s.Before)
	switch {
	case s.Complete:
		fmt.Fprintf(out, "no single command, argument or pick can be removed (%d runs)\n\n", s.Tries)
	case s.Flaky:
		fmt.Fprintf(out, "not deterministic: it breaks the property sometimes, so more might be removed (%d runs)\n\n", s.Tries)
	default:
		fmt.Fprintf(out, "more might be removed: the search ended after %d runs; %s\n\n", s.Tries, more)
	}
	if _, err := io.WriteString(out, indented(s.Scenario.Text())+"\n"); err != nil {
		return err
	}
	return reports.WriteText(painter(out), reports.Report{Run: s.run, Story: s.story, Twin: s.twin, Replay: replay, Page: page, Notes: notes})
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ") + "\n"
}
