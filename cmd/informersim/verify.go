package main

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/faultmix"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
)

// maxVerified bounds the seeds whose hashes verify keeps.
const maxVerified = 10_000_000

// verifyFlags are the flags of `informersim verify`.
type verifyFlags struct {
	seeds               uint64
	repeat              int
	subject             string
	strategy, mix       string
	interleave          string
	child               bool // print "SEED HASH" lines and nothing else
	childTrace, oneSeed string
	timeout             timeLimit
	results             results
}

func newVerifyCommand() *cobra.Command {
	f := &verifyFlags{}
	c := &cobra.Command{
		Use:   "verify [FILE|TRACE]",
		Short: "Check that every run of a seed is the same run",
		Long: `verify runs each seed several times in this process and once in another one, with another GOMAXPROCS, and compares the
traces byte by byte. It prints the number of distinct hashes, which is the number of seeds if every run of a seed is the same.
Otherwise it prints the first step that differs, with both sides.

Given a trace, verify runs what the trace's run was: its scenario, seed, subject, strategy and faults.

A run that breaks a property must break it every time; that it does is reported, too. If runs of a seed differ, the traces of two of
them are kept in the current folder.

Exit codes: 0 deterministic, 1 a property broke, every time or not, 2 bad input, 3 not deterministic, 4 not decided in time, 5 a
defect of informersim.`,
		Example: `  informersim verify --seeds 100 --repeat 20
  informersim verify my.sim --subject client-go --seeds 10 --repeat 5 --fault-mix storm
  informersim verify my-seed7.trace.jsonl`,
		Args: cli.Usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args) },
	}
	c.Flags().Uint64Var(&f.seeds, "seeds", 20, "run the seeds 1 to `N`")
	c.Flags().IntVar(&f.repeat, "repeat", 3, "the number of runs of each seed in this process")
	c.Flags().StringVar(&f.subject, "subject", defaultSubject, subjectHelp())
	c.Flags().StringVar(&f.strategy, "strategy", "random", "how choices are picked: "+strategyNames())
	c.Flags().StringVar(&f.interleave, "interleave", "", interleaveHelp)
	c.Flags().StringVar(&f.mix, "fault-mix", "default", "faults that may happen: "+strings.Join(faultmix.Names(), ", ")+`, or a YAML or JSON file; "" for none`)
	f.timeout.define(c)
	f.results.define(c)
	c.Flags().BoolVar(&f.child, "child", false, "print the hash of each seed, for a parent process")
	c.Flags().StringVar(&f.oneSeed, "child-seed", "", "run this seed only")
	c.Flags().StringVar(&f.childTrace, "child-trace", "", "write the seed's trace to this file")
	for _, hidden := range []string{"child", "child-seed", "child-trace"} {
		if err := c.Flags().MarkHidden(hidden); err != nil {
			panic(err) // the flag was defined above
		}
	}
	return c
}

func (f *verifyFlags) run(c *cobra.Command, args []string) error {
	switch {
	case f.seeds == 0 || f.repeat < 1:
		return errors.New("--seeds and --repeat must be at least 1")
	case f.seeds > maxVerified:
		return fmt.Errorf("--seeds %d: verify takes up to %d", f.seeds, maxVerified)
	}
	if err := errors.Join(f.timeout.check(), refuseReadOnce("verify", append(args, f.mix)...)); err != nil {
		return err
	}
	if len(args) > 0 && outfile.IsTrace(args[0]) {
		return f.runTrace(c, args[0])
	}
	if f.strategy == "fifo" && !c.Flags().Changed("fault-mix") {
		f.mix = ""
	}
	flags := &runFlags{strategy: f.strategy, mix: f.mix, subject: f.subject, interleave: f.interleave, timeout: f.timeout}
	r, err := flags.load(c, args, seedRange{})
	if err == nil {
		r.subject, err = hardy(c.Context(), r.subject)
	}
	if err != nil {
		return err
	}
	return f.start(c, &verifier{runner: r, first: 1, seeds: f.seeds, repeat: f.repeat, args: append([]string{"verify"}, f.childArgs(args)...)})
}

func (f *verifyFlags) start(c *cobra.Command, v *verifier) error {
	if f.child {
		return v.child(c.OutOrStdout(), f.oneSeed, f.childTrace)
	}
	if err := f.results.begin(c, v.runner.file, f.mix); err != nil {
		return err
	}
	return v.told(&f.results, v.verify(c.Context(), c.OutOrStdout()))
}

// runTrace verifies the run of a trace.
func (f *verifyFlags) runTrace(c *cobra.Command, path string) error {
	for _, name := range []string{"seeds", "subject", "strategy", "fault-mix", "interleave"} {
		if c.Flags().Changed(name) {
			return fmt.Errorf("--%s: %s is a trace, whose run has its own; leave the flag out", name, path)
		}
	}
	h, err := headerOf(path)
	if err != nil {
		return err
	}
	if h.Subject == simtestSubject {
		return fmt.Errorf("%s: %w; run the test with -simtest.verify -simtest.seed=%d", path, errSimtest, h.Seed)
	}
	s, err := hardyNamed(c.Context(), h.Subject)
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	sc, o, err := scenarios.OfTrace(*h, scenarios.Options{})
	if err != nil {
		return fmt.Errorf("%s: %w", path, err)
	}
	flags := &runFlags{strategy: h.Strategy, subject: h.Subject, timeout: f.timeout}
	if o.Mix != nil {
		flags.mix = o.Mix.Name
	}
	return f.start(c, &verifier{
		runner: &runner{c: c, flags: flags, trace: path, scenario: sc, mix: o.Mix, subject: s, interleave: o.Interleave},
		first:  h.Seed, seeds: 1, repeat: f.repeat, args: []string{"verify", "--child", "--timeout", time.Duration(f.timeout).String(), path},
	})
}

func (f *verifyFlags) childArgs(args []string) []string {
	all := append([]string{
		"--child", "--seeds", strconv.FormatUint(f.seeds, 10), "--subject", f.subject, "--strategy", f.strategy, "--fault-mix", f.mix, "--timeout", time.Duration(f.timeout).String(),
	}, interleaveArgs(f.interleave)...)
	return append(all, args...)
}

// verifier runs each seed many times.
type verifier struct {
	runner  *runner
	first   uint64 // seed
	seeds   uint64 // how many
	repeat  int
	args    []string // for the other process
	found   findings
	differs *difference // the first, nil for none
}

// difference is the first difference between two runs of a seed.
type difference struct {
	seed        uint64
	left, right []byte // traces
	what        string // names the right run
}

func (v *verifier) verify(ctx context.Context, out io.Writer) error {
	started := time.Now()
	procs := otherProcs()
	other, err := v.startOther(ctx, procs)
	if err != nil {
		return err
	}
	hashes := map[string]bool{}
	first := make([]string, v.seeds)
	var diff *difference
	for i := range v.seeds {
		seed := v.first + i
		if err := ctx.Err(); err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		d, hs, err := v.again(ctx, seed)
		if diff == nil {
			diff = d
		}
		if err != nil {
			return v.broughtDown(out, diff, fmt.Errorf("seed %d: %w", seed, err))
		}
		for _, h := range hs {
			hashes[h] = true
		}
		first[i] = hs[0]
	}
	elsewhere, err := other()
	if err != nil {
		return v.broughtDown(out, diff, err)
	}
	for i := range v.seeds {
		seed := v.first + i
		hashes[elsewhere[seed]] = true
		if diff == nil && elsewhere[seed] != first[i] {
			if diff, err = v.compareWithOther(ctx, seed, procs); err != nil {
				return v.broughtDown(out, nil, err)
			}
		}
	}
	distinct := "hashes"
	if len(hashes) == 1 {
		distinct = "hash"
	}
	fmt.Fprintf(out, "%s × %s: %d distinct %s\n", reports.Counted(v.seeds, "seed"), reports.Counted(v.repeat, "run"), len(hashes), distinct)
	fmt.Fprintf(out, "  subject %s · strategy %s · fault mix %s · each seed also once in another process with GOMAXPROCS=%d (here %d) · %s\n",
		v.runner.subject.Name, v.runner.flags.strategy, orNone(v.runner.flags.mix), procs, runtime.GOMAXPROCS(0), time.Since(started).Round(10*time.Millisecond))
	if len(v.found) == 0 {
		writeUnjudged(out, v.runner.subject)
	}
	if diff != nil || len(v.found) > 0 {
		return v.conclude(out, diff)
	}
	if uint64(len(hashes)) != v.seeds {
		return &sim.DivergedError{Why: fmt.Sprintf("%d seeds have only %d hashes: different seeds made the same run", v.seeds, len(hashes))}
	}
	return nil
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return s
}

// again runs a seed several times, and returns the first difference and the distinct hashes.
func (v *verifier) again(ctx context.Context, seed uint64) (*difference, []string, error) {
	first, hash, err := v.trace(ctx, seed)
	if err != nil {
		return nil, nil, err
	}
	hashes := []string{hash}
	var diff *difference
	for n := 2; n <= v.repeat; n++ {
		next, hash, err := v.trace(ctx, seed)
		if err != nil {
			return diff, hashes, err
		}
		if bytes.Equal(first, next) {
			continue
		}
		hashes = append(hashes, hash)
		if diff == nil {
			diff = &difference{seed: seed, left: first, right: next, what: fmt.Sprintf("run %d", n)}
		}
	}
	return diff, hashes, nil
}

// trace runs a seed once and returns its trace and hash.
func (v *verifier) trace(ctx context.Context, seed uint64) ([]byte, string, error) {
	o := v.runner.options(seed)
	var buf bytes.Buffer
	o.Trace = &buf
	res, err := v.runner.play(ctx, o)
	if err != nil {
		return nil, "", err
	}
	v.found.add(&res.Run)
	return buf.Bytes(), sim.FormatHash(res.Hash), nil
}

// otherProcs returns a GOMAXPROCS different from this process's.
func otherProcs() int {
	if runtime.GOMAXPROCS(0) == 1 {
		return 4
	}
	return 1
}

// startOther runs the seeds in another process. The returned function waits for their hashes.
func (v *verifier) startOther(ctx context.Context, procs int) (wait func() (map[uint64]string, error), err error) {
	cmd, stderr, err := v.command(ctx, procs)
	if err != nil {
		return nil, err
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("starting another process: %w", err)
	}
	type result struct {
		hashes map[uint64]string
		err    error
	}
	done := make(chan result, 1)
	go func() {
		hashes := map[uint64]string{}
		for s := bufio.NewScanner(out); s.Scan(); {
			seed, hash, _ := strings.Cut(s.Text(), " ")
			if n, err := strconv.ParseUint(seed, 10, 64); err == nil {
				hashes[n] = hash
			}
		}
		err := cmd.Wait()
		switch {
		case err != nil:
			err = otherFailed(ctx, err, stderr)
		case uint64(len(hashes)) != v.seeds:
			err = fmt.Errorf("the other process ran %d of %d seeds", len(hashes), v.seeds)
		}
		done <- result{hashes, err}
	}()
	return func() (map[uint64]string, error) {
		r := <-done
		return r.hashes, r.err
	}, nil
}

func (v *verifier) command(ctx context.Context, procs int, more ...string) (*exec.Cmd, *bytes.Buffer, error) {
	exe, err := thisProgram()
	if err != nil {
		return nil, nil, err
	}
	cmd := exec.CommandContext(ctx, exe, append(append([]string(nil), v.args...), more...)...)
	cmd.Env = append(os.Environ(), fmt.Sprintf("GOMAXPROCS=%d", procs))
	stderr := &bytes.Buffer{}
	cmd.Stderr = stderr
	if _, err := cmd.StdinPipe(); err != nil { // which ends with this process: the other follows it
		return nil, nil, err
	}
	return cmd, stderr, nil
}

// otherFailed returns the error of the other process, unless it failed because this one was interrupted.
func otherFailed(ctx context.Context, err error, stderr *bytes.Buffer) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	err = fmt.Errorf("the other process: %w: %s", err, strings.TrimSpace(stderr.String()))
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > exitBadInput {
		return &answered{err.Error(), exit.ExitCode()}
	}
	return err
}

// child runs the seeds in the other process.
func (v *verifier) child(out io.Writer, oneSeed, path string) error {
	_, stop := v.runner.followParent(v.runner.c.InOrStdin())
	defer stop()
	from, n := v.first, v.seeds
	if oneSeed != "" {
		seed, err := strconv.ParseUint(oneSeed, 10, 64)
		if err != nil {
			return fmt.Errorf("--child-seed: %w", err)
		}
		from, n = seed, 1
	}
	for i := range n {
		seed := from + i
		trace, hash, err := v.trace(v.runner.c.Context(), seed)
		if err != nil {
			return fmt.Errorf("seed %d: %w", seed, err)
		}
		if path != "" {
			if err := (outfile.Target{Path: path}).Write(v.runner.c.Context(), trace); err != nil {
				return err
			}
		}
		fmt.Fprintf(out, "%d %s\n", seed, hash)
	}
	return nil
}

// compareWithOther compares the traces of a seed whose hash differs between the processes.
func (v *verifier) compareWithOther(ctx context.Context, seed uint64, procs int) (*difference, error) {
	dir, err := os.MkdirTemp("", "informersim-verify-")
	if err != nil {
		return nil, err
	}
	defer os.RemoveAll(dir)
	path := dir + "/other.trace.jsonl"
	cmd, stderr, err := v.command(ctx, procs, "--child-seed", strconv.FormatUint(seed, 10), "--child-trace", path)
	if err != nil {
		return nil, err
	}
	if err := cmd.Run(); err != nil {
		return nil, otherFailed(ctx, err, stderr)
	}
	right, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	left, _, err := v.trace(ctx, seed)
	if err != nil {
		return nil, err
	}
	return &difference{seed: seed, left: left, right: right, what: fmt.Sprintf("a process with GOMAXPROCS=%d", procs)}, nil
}
