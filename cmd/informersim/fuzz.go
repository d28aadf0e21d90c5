package main

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"math"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/campaign"
	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/launcher"
	"github.com/informersim/informersim/cmd/internal/version"
	"github.com/informersim/informersim/internal/garbage"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects"
)

// fuzzFlags are the flags of `informersim fuzz`.
type fuzzFlags struct {
	seeds, shard, subject, out, junit, report string
	interleave                                string
	lasts, shrink                             time.Duration
	workers                                   int
	resume, keepGoing, json, child            bool
	timeout                                   timeLimit
}

// Defaults of the flags.
const (
	defaultShrink = 30 * time.Second
	// looseFindings is the folder for findings without --out.
	looseFindings = "informersim-findings"
	// jobIndex has a pod's part of the work, from 0, in an Indexed Job of Kubernetes.
	jobIndex = "JOB_COMPLETION_INDEX"
)

func newFuzzCommand() *cobra.Command {
	f := &fuzzFlags{}
	c := &cobra.Command{
		Use:   "fuzz [FILE...]",
		Short: "Make runs of many seeds until a property breaks, and shrink what is found",
		Long: `fuzz makes the run of one seed after the other and checks all properties after every step. Without FILE, a seed makes a scenario:
cluster, informers, handlers, workers, writes, faults and waits. With files, it plays one of them. In both cases it also draws the
fault mix, the order of events and what is left open of informers.

It goes on until a property breaks, the last of --seeds, the end of --for, or Ctrl-C; a finding ends it unless --keep-going is given.
Every finding is shrunk as informersim shrink does. Runs that break the same property in the same way and have the same shape when they are shrunk (what
is in the script: writes, features, faults; not names, numbers, waits and order; and the function that panics, or the call that is answered
wrongly) are one finding. Findings that break one property in the same way are perhaps of one bug, and the summary tells them together.
Each is kept as a folder, in --out DIR/findings, or in informersim-findings without --out:

  README.md        what broke, and the commands that show it again
  scenario.sim     the scenario that is left
  run.trace.jsonl  its run; informersim replay plays it
  story.txt        the verdict, and what happened
  report.html      the same in a browser, with every step
  original/        the scenario of the seed, before it was shrunk

--out DIR also keeps how far the campaign has come. --resume goes on there, with the same seeds, subject, files and build; if there is
nothing yet, it begins. --shard 2/5 takes the second of every five seeds, so that five machines share them; informersim merge joins
their folders. --shard job/5 takes the part from $JOB_COMPLETION_INDEX, which an Indexed Job of Kubernetes sets.

--report FILE writes one HTML file about all runs: findings by cause, with how many runs it took to find each, and heat maps of which faults met
which states of reflectors and which other faults. informersim report DIR makes it of a folder of --out.

In a program that is built with the overlay of Go's runtime (informersim go build), the seed also interleaves the goroutines of the subject
client-go within each step, in half of the runs; --interleave on or off says otherwise.

A seed without a verdict (--timeout, a process that died) is noted and left out. Where $GITHUB_STEP_SUMMARY is set, a summary is
added to that file.

Exit codes: 0 no finding, 1 findings, 2 bad input, 4 seeds without a verdict or no run at all, 5 a defect of informersim, 130 interrupted before
anything was found.`,
		Example: `  informersim fuzz
  informersim fuzz --seeds 1..10000 --keep-going --out results
  informersim fuzz --for 10m --subject client-go
  informersim fuzz --seeds 1..10000 --keep-going --report fuzz.html
  informersim fuzz scenarios/testdata/*.sim --for 5m
  informersim fuzz --seeds 1..100000 --shard 2/5 --out shard2 --resume`,
		Args: cli.Usage(cobra.ArbitraryArgs),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().StringVar(&f.seeds, "seeds", "", "run the seeds `A..B`, 1 to N for N, or A.. without an end (default 1..)")
	c.Flags().DurationVar(&f.lasts, "for", 0, "end after this real time; 0 for no limit")
	c.Flags().StringVar(&f.subject, "subject", defaultSubject, subjectHelp())
	c.Flags().StringVar(&f.interleave, "interleave", "", interleaveHelp)
	c.Flags().IntVar(&f.workers, "workers", runtime.GOMAXPROCS(0), "the number of runs at a time")
	c.Flags().StringVar(&f.shard, "shard", "", "make the runs of the part `I/N` of the seeds only; job/N takes I from $"+jobIndex)
	c.Flags().StringVar(&f.out, "out", "", "keep findings, and how far it has come, in this empty or new `folder`")
	c.Flags().BoolVar(&f.resume, "resume", false, "go on where an earlier run with this --out has stopped")
	c.Flags().BoolVar(&f.keepGoing, "keep-going", false, "do not stop at the first finding")
	c.Flags().DurationVar(&f.shrink, "shrink", defaultShrink, "the real time that the search for the smallest run of a finding may take; 0 for not at all")
	c.Flags().StringVar(&f.junit, "junit", "", "write the results to this `file`, as JUnit does")
	c.Flags().StringVar(&f.report, "report", "", "write one HTML `file` about all runs: findings by cause, and which faults met what")
	c.Flags().BoolVar(&f.json, "json", false, "print a JSON object for each finding, and one for the end, instead of text")
	c.Flags().BoolVar(&f.child, "child", false, "run the seeds read from standard input, for a parent process")
	f.timeout.define(c)
	if err := c.Flags().MarkHidden("child"); err != nil {
		panic(err) // the flag was defined above
	}
	return c
}

func (f *fuzzFlags) run(c *cobra.Command, args []string) error {
	if err := cli.NotEmpty(c, "seeds", "shard", "out", "junit", "report", "interleave"); err != nil {
		return err
	}
	if err := f.check(); err != nil {
		return err
	}
	defer garbage.CollectSeldom()()
	z := &fuzzer{c: c, flags: f, args: args}
	var err error
	if z.subject, err = subjectNamed(c.Context(), f.subject); err != nil {
		return err
	}
	if z.interleave, err = parseInterleave(f.interleave, z.subject); err != nil {
		return err
	}
	if z.subject.Host != nil { // its runs are made in processes of their own
		if err := refuseReadOnce("fuzz --subject "+z.subject.Name, args...); err != nil {
			return err
		}
	}
	if err := z.load(args); err != nil {
		return err
	}
	if z.asked.Interleave = f.interleave; f.interleave == "" && z.subject.Interleaved != nil {
		z.asked.Interleave = "half"
	}
	z.asked.Subject, z.asked.Build = z.subject.Name, versionsWith(z.subject.Name)
	if f.child {
		return z.serve(c.InOrStdin(), c.OutOrStdout())
	}
	if z.asked.First, z.asked.Last, err = parseOpenSeeds(f.seeds); err != nil {
		return err
	}
	shard, of, err := parseShard(f.shard)
	if err != nil {
		return err
	}
	z.asked.Shards = of
	junit := junitTarget(c, f.junit, args)
	if f.junit != "" {
		if err := junit.Check(); err != nil {
			return err
		}
	}
	if err := z.checkPage(); err != nil {
		return err
	}
	if f.out != "" {
		if z.asked.Program, err = programDigest(version.Released(), version.Sealed(), version.Commit()); err != nil {
			return fmt.Errorf("--out: %w", err)
		}
	}
	release, err := z.outFolder()
	if err != nil {
		return err
	}
	defer release()
	if err := z.open(shard); err != nil {
		return err
	}
	return z.fuzz(junit)
}

// check refuses flags that cannot be meant.
func (f *fuzzFlags) check() error {
	switch {
	case f.workers < 1:
		return fmt.Errorf("--workers %d: at least 1 run has to be made at a time", f.workers)
	case f.lasts < 0:
		return fmt.Errorf("--for %v is negative: use a duration like 10m, or 0 for no limit", f.lasts)
	case f.resume && f.out == "":
		return errors.New("--resume needs the --out of the run to go on with")
	}
	return errors.Join(checkShrink(f.shrink), f.timeout.check())
}

// parseOpenSeeds reads N, A..B or A.. .
func parseOpenSeeds(s string) (first, last uint64, err error) {
	if s == "" {
		return 1, math.MaxUint64, nil
	}
	bad := fmt.Errorf("--seeds %q: write a number like 1000, a range like 5..9, or one without an end like 5..", s)
	from, to, isRange := strings.Cut(s, "..")
	if first, err = strconv.ParseUint(from, 10, 64); err != nil || first == math.MaxUint64 {
		return 0, 0, bad
	}
	switch {
	case !isRange && first == 0:
		return 0, 0, errors.New("--seeds must be at least 1")
	case !isRange:
		return 1, first, nil
	case to == "":
		return first, math.MaxUint64, nil
	}
	if last, err = strconv.ParseUint(to, 10, 64); err != nil || last == math.MaxUint64 {
		return 0, 0, bad
	}
	if last < first {
		return 0, 0, fmt.Errorf("--seeds %s is an empty range: the first seed is greater than the last", s)
	}
	return first, last, nil
}

// maxShards is more machines than anyone has.
const maxShards = 1_000_000

// parseShard reads I/N, I from 1 to N, or job/N.
func parseShard(s string) (index, of uint64, err error) {
	if s == "" {
		return 1, 1, nil
	}
	bad := fmt.Errorf("--shard %q: write the part and the number of parts, like 2/5, or job/5 in an Indexed Job", s)
	part, parts, isPair := strings.Cut(s, "/")
	if !isPair {
		return 0, 0, bad
	}
	if of, err = strconv.ParseUint(parts, 10, 64); err != nil || of == 0 || of > maxShards {
		return 0, 0, bad
	}
	if part == "job" {
		text, set := os.LookupEnv(jobIndex)
		if index, err = strconv.ParseUint(text, 10, 64); err != nil {
			if !set {
				return 0, 0, fmt.Errorf("--shard %s: $%s is not set; Kubernetes sets it in the pods of a Job with completionMode: Indexed", s, jobIndex)
			}
			return 0, 0, fmt.Errorf("--shard %s: $%s is %q, not a number", s, jobIndex, text)
		}
		if index >= of {
			return 0, 0, fmt.Errorf("--shard %s: $%s is %d, and the parts of %d are 0 to %d; give the Job's completions behind the slash", s, jobIndex, index, of, of-1)
		}
		return index + 1, of, nil
	}
	if index, err = strconv.ParseUint(part, 10, 64); err != nil {
		return 0, 0, bad
	}
	if index < 1 || index > of {
		return 0, 0, fmt.Errorf("--shard %s: the parts of %d are 1 to %d", s, of, of)
	}
	return index, of, nil
}

// junitTarget is the file of --junit. Unless the command has --force, and it is given, it replaces nothing but such a file.
func junitTarget(c *cobra.Command, path string, inputs []string) outfile.Target {
	t := outfile.Target{Path: path, Flag: "--junit", Inputs: inputs, Final: c.Flags().Lookup("force") == nil}
	if force, err := c.Flags().GetBool("force"); err != nil || !force {
		t.Replaces, t.Kind = isJUnit, "a JUnit report"
	}
	return t
}

// isJUnit tells whether a file begins as a JUnit report does.
func isJUnit(path string) bool { return begins(path, "<testsuite") }

// load reads the corpus.
func (z *fuzzer) load(paths []string) error {
	for _, path := range paths {
		s, err := loadScenario(z.c.Context(), []string{path})
		if err != nil {
			return err
		}
		z.corpus = append(z.corpus, s)
		z.files = append(z.files, path)
		z.asked.Corpus = append(z.asked.Corpus, campaign.File{Name: s.Name, Digest: fmt.Sprintf("%x", sha256.Sum256([]byte(s.Text())))[:16], Unchecked: s.Expectations()})
	}
	return nil
}

// outFolder makes the folder of --out this process's until release is called: of two that write there, the one that is last would leave out what the other has found. A
// folder that cannot be locked, as on some network file systems, is nobody's.
func (z *fuzzer) outFolder() (release func(), err error) {
	if z.flags.out == "" {
		return func() {}, nil
	}
	if err := os.MkdirAll(z.flags.out, 0o777); err != nil {
		return nil, fmt.Errorf("--out: %w", err)
	}
	ctx, cancel := context.WithTimeout(z.c.Context(), outPatience)
	defer cancel()
	release, err = launcher.LockFolder(ctx, z.flags.out)
	switch {
	case err == nil:
		return release, nil
	case errors.Is(err, context.DeadlineExceeded):
		return nil, fmt.Errorf("--out: another informersim fuzz writes to %s; wait for its end, or name another folder", z.flags.out)
	case errors.Is(err, context.Canceled):
		return nil, err
	}
	return func() {}, nil
}

// outPatience is how long another process may have the folder of --out, in real time: one that is interrupted, as a pod that is evicted, is still writing down what it has.
// It is a variable for a test.
var outPatience = 5 * time.Second

// open opens the folder of --out, before any run is made.
func (z *fuzzer) open(shard uint64) error {
	z.state = campaign.New(z.asked, shard)
	if z.flags.out == "" {
		z.keeper = campaign.Loose(looseFindings)
		return nil
	}
	switch {
	case z.flags.resume:
		folder, earlier, err := campaign.Resume(z.flags.out, z.asked, shard)
		if err != nil {
			return err
		}
		if z.folder = folder; earlier != nil {
			z.state = earlier
		}
	case campaign.Holds(z.flags.out):
		return fmt.Errorf("--out: %s has the results of an earlier run; go on with it with --resume, or name another folder", z.flags.out)
	default:
		folder, err := campaign.Begin(z.flags.out)
		if err != nil {
			return err
		}
		z.folder = folder
	}
	z.keeper = z.folder
	return z.folder.Save(context.WithoutCancel(z.c.Context()), z.state)
}

// fuzzer makes the runs of `informersim fuzz`.
type fuzzer struct {
	c       *cobra.Command
	flags   *fuzzFlags
	args    []string
	subject subjects.Kind
	corpus  []*scenarios.Scenario
	files   []string // of the corpus
	asked   campaign.Asked
	// interleave is what --interleave says.
	interleave scenarios.Interleaving
	state      *campaign.Campaign
	folder     *campaign.Folder // of --out, nil for none
	keeper     keeper
}

// keeper is where findings are kept.
type keeper interface {
	Keep(f *campaign.Finding, files map[string][]byte) error
	FindingPath(f *campaign.Finding) string
	Recount(c *campaign.Campaign) error
}
