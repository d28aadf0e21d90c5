package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/faultmix"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/minimal"
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
one without FILE), and drops commands, objects, handlers, arguments, faults and picks of the schedule, shortens waits, and puts one object in the place of
another, as long as the same property breaks for the same reason. It prints what is left as a script, and the verdict of
that run.

Where no schedule is needed, what is left fails as a transcript and is written as a scenario (to -o, or SCENARIO-min.sim).
Otherwise the schedule is in the trace, which is written in any case (to --trace, or SCENARIO-min.trace.jsonl).

Exit codes: 0 a smaller run was written, or the run is as small as it can be, 2 bad input, or a run that breaks no property, 3
the run does not repeat.`,
		Example: `  informersim shrink builtin-seed7.trace.jsonl
  informersim shrink my.sim --seed 7 --fault-mix storm -o smaller.sim`,
		Args: cli.Usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return f.shrink(c, args) },
	}
	c.Flags().StringVar(&f.run.seed, "seed", "", "the seed of the run, with FILE")
	c.Flags().StringVar(&f.run.strategy, "strategy", "", "how its choices were picked: "+strings.Join(scenarios.Strategies, " or ")+" (default fifo; random with --seed or --fault-mix)")
	c.Flags().StringVar(&f.run.mix, "fault-mix", "", "its faults: "+strings.Join(faultmix.Names(), ", ")+", or a YAML or JSON `file`")
	c.Flags().StringVar(&f.run.subject, "subject", defaultSubject, "the informer stack under test: "+strings.Join(subjectNames(), ", "))
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
	if f.run.trace == "" {
		f.run.trace = name + ".trace.jsonl"
	}
	trace := traceTarget(f.run.trace, f.run.force, inputs...)
	script := scenarioTarget("-o", f.out, f.run.force, inputs...)
	if f.out == "" {
		script = scenarioTarget("-o", name+".sim", f.run.force, inputs...)
	}
	for _, target := range []outfile.Target{trace, script} {
		if err := target.Check(); err != nil {
			return err
		}
	}
	small, err := minimal.Search(c.Context(), *found, minimal.Budget{Tries: f.tries})
	if err != nil {
		if errors.Is(err, minimal.ErrNotRepeated) {
			return &sim.DivergedError{Step: found.Violation.Step, Why: err.Error()}
		}
		return err
	}
	// After an interrupt, what was found so far is still the user's.
	return errors.Join(f.write(c, small, trace, script), c.Context().Err())
}

// found returns the run that a trace or a scenario's seed makes.
func (f *shrinkFlags) found(c *cobra.Command, args []string) (*minimal.Found, error) {
	path := "the built-in scenario"
	if len(args) > 0 {
		path = args[0]
	}
	if outfile.IsTrace(path) {
		for _, flag := range []string{"seed", "strategy", "fault-mix", "subject"} {
			if c.Flags().Changed(flag) {
				return nil, fmt.Errorf("--%s: %s is a trace, which says that by itself", flag, path)
			}
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return nil, err
		}
		return f.traced(c, path, data)
	}
	sc, err := loadScenario(c.Context(), args)
	if err != nil {
		return nil, err
	}
	seeds, err := parseSeeds(f.run.seed)
	if err != nil {
		return nil, err
	}
	if seeds.many() {
		return nil, fmt.Errorf("--seed %s: shrink takes the seed of one run", f.run.seed)
	}
	mix, err := faultmix.Load(c.Context(), f.run.mix)
	if err != nil {
		return nil, err
	}
	subject, err := subjectNamed(f.run.subject)
	if err != nil {
		return nil, err
	}
	if f.run.strategy == "" && seeds.given {
		f.run.strategy = "random"
	}
	r := &runner{c: c, flags: &f.run, scenario: sc, mix: mix, subject: subject, seeds: seeds}
	o := r.options(seeds.first)
	var trace bytes.Buffer
	o.Trace = &trace
	res, err := scenarios.Run(c.Context(), sc, o)
	if err != nil {
		return nil, err
	}
	if res.Violation == nil {
		return nil, fmt.Errorf("%s breaks no property with --seed %d: there is nothing to shrink; give the --seed, --fault-mix and --subject of a run that fails", path, seeds.first)
	}
	return f.traced(c, path, trace.Bytes())
}

// traced returns the run of a trace, which is made again to see what it breaks.
func (f *shrinkFlags) traced(c *cobra.Command, path string, data []byte) (*minimal.Found, error) {
	tr, err := sim.NewTraceReader(path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	h := tr.Header()
	if h.Subject == simtestSubject {
		return nil, fmt.Errorf("%s is the trace of a Go test, which makes its failures simpler by itself; for longer: go test -simtest.shrink=10m", path)
	}
	subject, err := subjectNamed(h.Subject)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	o := scenarios.Options{Subject: subject, Seed: h.Seed, Strategy: h.Strategy, Properties: properties.All(), Versions: versions()}
	if h.Mix != nil {
		mix, err := fault.ParseMix(h.Mix)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", path, err)
		}
		o.Mix = &mix
	}
	sc, err := scenarios.Parse(h.Scenario+".sim", []byte(h.Script))
	if err != nil {
		return nil, fmt.Errorf("%s: the script in it: %w", path, err)
	}
	res, err := scenarios.Replay(c.Context(), tr, o)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if res.Violation == nil {
		return nil, fmt.Errorf("%s: the run breaks no property: there is nothing to shrink", path)
	}
	again, err := sim.NewTraceReader(path, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	picks, err := sim.ReadPicks(again)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	return &minimal.Found{Scenario: sc, Options: o, Picks: picks, Violation: res.Violation}, nil
}

// write makes the smaller run once more, with a trace, and prints it.
func (f *shrinkFlags) write(c *cobra.Command, small *minimal.Result, trace, script outfile.Target) error {
	ctx := context.WithoutCancel(c.Context())
	var tape bytes.Buffer
	o := small.Options
	o.Trace = &tape
	res, err := scenarios.Run(ctx, small.Scenario, o)
	if err != nil {
		return err
	}
	if err := trace.Write(ctx, tape.Bytes()); err != nil {
		return err
	}
	report := reports.Report{Run: &res.Run, Replay: []string{"informersim replay " + reports.ShellPath(trace.Path)}}
	if f.out != "" || small.Transcript() {
		if err := script.Write(ctx, []byte(small.Scenario.Text())); err != nil {
			return err
		}
	}
	if small.Transcript() {
		report.Replay = append(report.Replay, f.runLine(small, script.Path))
	}
	tr, err := sim.NewTraceReader(trace.Path, bytes.NewReader(tape.Bytes()))
	if err != nil {
		return err
	}
	if report.Story, err = reports.Story(tr, res.Violation.Key, res.Violation.Step); err != nil {
		return err
	}
	res.ShrunkFrom = small.Before.String()
	out := c.OutOrStdout()
	fmt.Fprintf(out, "%s, was %s\n", small.After, small.Before)
	if small.Complete {
		fmt.Fprintf(out, "no single command, argument or pick can be removed (%d runs)\n\n", small.Tries)
	} else {
		fmt.Fprintf(out, "more might be removed: the search ended after %d runs; raise --tries\n\n", small.Tries)
	}
	if _, err := io.WriteString(out, indented(small.Scenario.Text())+"\n"); err != nil {
		return err
	}
	return reports.WriteText(out, report)
}

// runLine is the command that runs what is left as a transcript.
func (f *shrinkFlags) runLine(small *minimal.Result, path string) string {
	line := "informersim run " + reports.ShellPath(path)
	if name := small.Options.Subject.Name; name != defaultSubject {
		line += " --subject " + reports.ShellQuote(name)
	}
	return line
}

func indented(text string) string {
	return "    " + strings.ReplaceAll(strings.TrimRight(text, "\n"), "\n", "\n    ") + "\n"
}
