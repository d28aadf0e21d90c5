package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/faultmix"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/script"
	"github.com/informersim/informersim/subjects"
)

// runFlags are the flags of `informersim run`.
type runFlags struct {
	seed, strategy, mix, trace, subject string
	bounds, report, interleave          string
	json, rewrite, verbose, child       bool
	force                               bool
	timeout                             timeLimit
	shrink                              time.Duration
	results                             results
}

func newRunCommand() *cobra.Command {
	f := &runFlags{}
	c := &cobra.Command{
		Use:   "run [FILE]",
		Short: "Run a scenario and check the properties after every step",
		Long: `run plays a scenario (the built-in one without FILE) and prints a verdict.

Without --seed and --fault-mix the scenario is a transcript: its commands run one after the other under the strategy fifo,
and their outputs are compared with those in FILE. With --seed or --fault-mix it is explored: the strategy random interleaves
everything that can happen, the mix adds faults, and only the properties are checked. What FILE leaves open of an informer (its
queue, streaming lists, pages, resyncs, its replica) is drawn from the seed in an exploration; a transcript has defaults. The
verdict names what it was, as arguments that pin it. The strategies pct and pos draw schedules in other ways (docs/exploration.md).
exhaustive makes every run of a small scenario within --bounds, and says how many states it saw; --seed draws only what the script
leaves open.

With -v, run prints what log, reconciles, requests and show say, even where FILE expects no output of them.

A run that takes longer than --timeout is not decided: its seed, step and virtual time are printed, and what it is doing. When
something breaks, the trace is written (to --trace, or to SCENARIO-seedN.trace.jsonl in the current folder) and the command
that replays it is printed. The subject, the fault mix and the strategy are in the name, too, where they are not the defaults
stack, none, and fifo (random with a mix): gap-client-go-storm-seed7.trace.jsonl.

With --shrink 30s the finding is shrunk first, and what is left is printed in its place and written to SCENARIO-seedN-min.trace.jsonl,
and to SCENARIO-seedN-min.sim where that alone shows it.

A trace replaces no file but a trace, unless --force is given, and never FILE. A file is complete or not there: what cannot be
written, as on a full disk, is an error and leaves what was there before. A finding is reported even so, and even if it does not
repeat.

Exit codes: 0 fine, 1 a property broke or a transcript differs, 2 bad input, 4 not decided in time, 5 a defect of informersim.

Commands of the script language:
` + commandHelp(),
		Example: `  informersim run
  informersim run scenarios/testdata/gap_of_everything.sim
  informersim run my.sim --seed 7 --fault-mix storm --trace my.trace.jsonl
  informersim run my.sim --seed 1..200 --fault-mix default --trace traces/
  informersim run my.sim --seed 1..200 --fault-mix default --shrink 30s
  informersim run my.sim --seed 1..200 --fault-mix default --report finding.html
  informersim run my.sim -v
  informersim run my.sim --rewrite`,
		Args: cli.Usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			return f.run(c, args)
		},
	}
	c.Flags().StringVar(&f.seed, "seed", "", "seed of all random choices: `N`, or a range N..M to run each of them")
	c.Flags().StringVar(&f.strategy, "strategy", "", "how choices are picked: "+strategyNames()+" (default fifo; random with --seed or --fault-mix)")
	c.Flags().StringVar(&f.bounds, "bounds", "", boundsHelp)
	c.Flags().StringVar(&f.interleave, "interleave", "", interleaveHelp)
	c.Flags().StringVar(&f.mix, "fault-mix", "", "faults that may happen: "+strings.Join(faultmix.Names(), ", ")+", or a YAML or JSON `file`")
	c.Flags().StringVar(&f.trace, "trace", "", "write the trace to this `file`; with a range of seeds, a folder for one file per seed")
	c.Flags().StringVar(&f.report, "report", "", "write an HTML report of the run to this `file` (informersim report); with a range of seeds, of the first that fails")
	c.Flags().StringVar(&f.subject, "subject", defaultSubject, subjectHelp())
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object per run instead of text")
	c.Flags().BoolVar(&f.rewrite, "rewrite", false, "replace the expected outputs in FILE with the actual ones")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "print what log, reconciles, requests and show say in this run")
	c.Flags().BoolVar(&f.child, "child", false, "run the seeds read from standard input, for a parent process")
	c.Flags().DurationVar(&f.shrink, "shrink", 0, "shrink a finding for up to this real time, as informersim shrink does, and print what is left; 0 for not at all")
	f.timeout.define(c)
	f.results.define(c)
	c.Flags().BoolVar(&f.force, "force", false, forceHelp)
	if err := c.Flags().MarkHidden("child"); err != nil {
		panic(err) // the flag was defined above
	}
	return c
}

func commandHelp() string {
	var b strings.Builder
	for _, c := range scenarios.Commands() {
		fmt.Fprintf(&b, "  %s\n      %s\n", c.Usage, c.Doc)
	}
	return b.String()
}

// seedRange is N or N..M.
type seedRange struct {
	first, last uint64
	given       bool
}

func parseSeeds(s string) (seedRange, error) {
	if s == "" {
		return seedRange{first: 1, last: 1}, nil
	}
	from, to, isRange := strings.Cut(s, "..")
	bad := fmt.Errorf("--seed %q is not a seed: write a number like 7, or a range like 1..200", s)
	first, err := strconv.ParseUint(from, 10, 64)
	if err != nil {
		return seedRange{}, bad
	}
	if !isRange {
		return seedRange{first, first, true}, nil
	}
	last, err := strconv.ParseUint(to, 10, 64)
	if err != nil {
		return seedRange{}, bad
	}
	if last < first {
		return seedRange{}, fmt.Errorf("--seed %s is an empty range: the first seed is greater than the last", s)
	}
	return seedRange{first, last, true}, nil
}

func (r seedRange) many() bool { return r.last > r.first }

func (f *runFlags) run(c *cobra.Command, args []string) error {
	if !f.child { // which is given the flags of its parent, empty or not
		if err := cli.NotEmpty(c, "seed", "strategy", "fault-mix", "trace", "report", "interleave"); err != nil {
			return err
		}
	}
	if err := errors.Join(f.timeout.check(), checkShrink(f.shrink)); err != nil {
		return err
	}
	seeds, err := parseSeeds(f.seed)
	if err != nil {
		return err
	}
	r, err := f.load(c, args, seeds)
	if err != nil {
		return err
	}
	if f.child {
		return r.serveSeeds(c.InOrStdin(), c.OutOrStdout())
	}
	if f.rewrite || !r.readTwice() { // no child makes these runs
		if r.subject, err = hardy(c.Context(), r.subject); err != nil {
			return err
		}
	}
	if err := r.checkPage(); err != nil {
		return err
	}
	switch {
	case f.rewrite && f.verbose:
		return errors.New("--rewrite puts into FILE what -v prints: leave out one of them")
	case f.rewrite:
		return r.rewrite()
	case f.verbose && seeds.many():
		return fmt.Errorf("-v prints the outputs of one run: give --seed one seed instead of %s", f.seed)
	}
	if err := f.results.begin(c, append(args, f.mix, f.trace, f.report)...); err != nil {
		return err
	}
	play := r.single
	if seeds.many() {
		play = r.ensemble
	}
	return r.told(play())
}

// load reads what the flags and arguments name. With a seed, the strategy is random unless a flag says otherwise.
func (f *runFlags) load(c *cobra.Command, args []string, seeds seedRange) (*runner, error) {
	r := &runner{c: c, flags: f, seeds: seeds}
	if len(args) > 0 {
		r.file = args[0]
	}
	var err error
	if r.scenario, err = loadScenario(c.Context(), args); err != nil {
		return nil, err
	}
	if r.mix, err = faultmix.Load(c.Context(), f.mix); err != nil {
		return nil, err
	}
	if r.subject, err = subjectNamed(c.Context(), f.subject); err != nil {
		return nil, err
	}
	if f.strategy == "" && seeds.given {
		f.strategy = "random"
	}
	if f.bounds != "" && f.strategy != scenarios.Exhaustive {
		return nil, errors.New("--bounds is for --strategy exhaustive")
	}
	if r.bounds, err = parseBounds(f.bounds); err != nil {
		return nil, err
	}
	if r.interleave, err = parseInterleave(f.interleave, r.subject); err != nil {
		return nil, err
	}
	return r, nil
}

// runner makes the runs of run, verify and shrink.
type runner struct {
	c        *cobra.Command
	flags    *runFlags
	file     string
	trace    string // whose run is made again, "" for none
	scenario *scenarios.Scenario
	mix      *fault.Mix
	subject  subjects.Kind
	seeds    seedRange
	bounds   scenarios.Bounds
	seen     *reports.Run // the last run that was made, for machines
	traced   string       // the file with the trace of the run that was told of last, "" for none
	repeats  bool         // the runs are those of a verdict that is known: one that does not come to its end is not worth a trace
	// interleave is what --interleave says, or the trace that is verified.
	interleave scenarios.Interleaving
}

func (r *runner) options(seed uint64) scenarios.Options {
	return scenarios.Options{
		Subject: r.subject, Seed: seed, Strategy: r.flags.strategy, Bounds: r.bounds, Mix: r.mix, Properties: properties.All(),
		Interleave: r.interleave, Versions: versionsWith(r.subject.Name),
	}
}

// once runs one seed; the trace goes to path unless that is empty.
func (r *runner) once(ctx context.Context, seed uint64, path string) (*scenarios.Result, error) {
	o := r.options(seed)
	if path == "" {
		return r.play(ctx, o)
	}
	target := r.traceTarget(path)
	if err := target.Check(); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return nil, fmt.Errorf("--trace: %w", err)
	}
	out, err := target.Create(ctx)
	if err != nil {
		return nil, err
	}
	defer out.Discard()
	writing, cancel := context.WithCancel(ctx)
	defer cancel()
	o.Trace = &untilFailure{out, cancel}
	res, err := r.play(writing, o)
	switch {
	case out.Err() != nil:
		if res, err = r.once(ctx, seed, ""); err != nil {
			return nil, out.Err()
		}
		return res, &lostTrace{out.Err()}
	case err != nil && (out.Written() == 0 || r.seeds.many() || r.repeats):
		return nil, err // a trace of an error shows a single run; among many, the others are wanted
	}
	if lost := out.Commit(); lost != nil && err == nil {
		return res, &lostTrace{lost}
	}
	return res, err
}

// play makes a run within the time limit.
func (r *runner) play(ctx context.Context, o scenarios.Options) (*scenarios.Result, error) {
	return within(ctx, r.flags.timeout, o.Seed, func(ctx context.Context) (*scenarios.Result, error) { return scenarios.Run(ctx, r.scenario, o) })
}

// untilFailure ends the run that writes to it when that fails.
type untilFailure struct {
	io.Writer
	cancel context.CancelFunc
}

func (w *untilFailure) Write(b []byte) (int, error) {
	n, err := w.Writer.Write(b)
	if err != nil {
		w.cancel()
	}
	return n, err
}

// traceTarget is the file for a trace of this run.
func (r *runner) traceTarget(path string) outfile.Target {
	return traceTarget(path, r.flags.force, r.file, r.flags.mix)
}

func (r *runner) single() error {
	a, err := r.alone()
	if err != nil {
		return err
	}
	a.Run = r.toGuest(a.Run, r.flags.trace)
	r.seen = a.Run
	report := reports.Report{Run: a.Run}
	if !a.Run.Passed() {
		report = r.explain(a.Run, r.flags.trace)
	}
	report.Outputs = a.Outputs
	return r.printFailed(report)
}

// outputs returns what the commands of a run printed, in the order of the script.
func outputs(s *scenarios.Scenario, res *scenarios.Result) []reports.Output {
	var all []reports.Output
	for _, c := range s.File().Commands() {
		if text, ran := res.Outputs[c]; ran {
			bare := *c
			bare.Comment = ""
			all = append(all, reports.Output{At: c.Pos.String(), Command: bare.String(), Text: text})
		}
	}
	return all
}

// commandLine returns the command that repeats the run from its seed.
func (r *runner) commandLine(res *reports.Run) string {
	if r.trace != "" {
		return "informersim replay " + reports.ShellPath(r.trace)
	}
	parts := []string{"informersim run"}
	if r.file != "" {
		parts = append(parts, reports.ShellPath(r.file))
	}
	parts = append(parts, "--seed", strconv.FormatUint(res.Seed, 10), "--strategy", reports.ShellQuote(res.Strategy))
	if r.flags.bounds != "" {
		parts = append(parts, "--bounds", reports.ShellQuote(r.flags.bounds))
	}
	if r.flags.mix != "" {
		parts = append(parts, "--fault-mix", reports.ShellQuote(r.flags.mix))
	}
	if r.flags.subject != defaultSubject {
		parts = append(parts, "--subject", reports.ShellQuote(r.flags.subject))
	}
	return strings.Join(append(parts, interleaveArgs(r.flags.interleave)...), " ")
}

func (r *runner) print(report reports.Report) error {
	write, out := reports.WriteText, painter(r.c.OutOrStdout())
	if r.flags.json {
		write, out = reports.WriteJSON, r.c.OutOrStdout()
	}
	if err := write(out, report); err != nil {
		return err
	}
	if !report.Run.Passed() {
		return broken{report.Run.Verdict()}
	}
	return nil
}

// rewrite runs the transcript and puts its outputs into the script.
func (r *runner) rewrite() error {
	switch {
	case r.file == "":
		return errors.New("--rewrite needs a FILE to rewrite")
	case r.mix != nil || r.seeds.given || r.flags.strategy != "" && r.flags.strategy != "fifo":
		return errors.New("--rewrite is for the transcript: leave out --seed, --strategy and --fault-mix")
	}
	if info, err := os.Stat(r.file); err != nil || !info.Mode().IsRegular() {
		return fmt.Errorf("--rewrite: %s is not a file that can be rewritten", r.file)
	}
	res, err := r.once(r.c.Context(), r.seeds.first, r.flags.trace)
	if err != nil {
		return err
	}
	broke := res.Run
	if broke.Mismatches = nil; broke.Violation != nil && !broke.Passed() { // the outputs end where it breaks
		return r.print(r.explain(&res.Run, r.flags.trace))
	}
	text, err := script.Rewrite(r.scenario.File(), res.Outputs)
	if err != nil {
		return err
	}
	old, err := os.ReadFile(r.file)
	if err != nil {
		return err
	}
	if bytes.Equal(old, text) {
		fmt.Fprintf(r.c.OutOrStdout(), "%s: unchanged\n", r.file)
		return nil
	}
	if err := (outfile.Target{Path: r.file, Flag: "--rewrite"}).Write(r.c.Context(), text); err != nil {
		return err
	}
	fmt.Fprintf(r.c.OutOrStdout(), "%s: rewritten\n", r.file)
	return nil
}
