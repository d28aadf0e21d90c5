package main

import (
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// replayFlags are the flags of `informersim replay`.
type replayFlags struct {
	json, verbose bool
	subject       string
	step          uint64
	timeout       timeLimit
}

func newReplayCommand() *cobra.Command {
	f := &replayFlags{}
	c := &cobra.Command{
		Use:   "replay TRACE...",
		Short: "Replay a trace and compare every step with it",
		Long: `replay repeats the choices of a trace, with the random numbers that it recorded, and compares every record and the hash of every
step. It prints what run prints. The trace of a Go test, written by package simtest, is replayed by that test, with the go command,
if the test's package can be found from the current folder.

Where this program does something else than the one that wrote the trace, because a bug was fixed for example, replay prints both
sides of the first step that differs, and the commits of both programs. The run then goes on from the trace's seed: from there it is
the run that informersim run makes of that seed (unless what could happen differed before, and nothing that the trace records), and
its properties are checked to its end.

A trace whose run was interrupted or killed is replayed to where it ends. Of a file that was cut within a step, the complete steps are
replayed, and the exit code is 2.

With --step N nothing is run: replay prints what step N of the trace did, and the state of every part after it (store, replicas, requests
and watches, queues, Indexers, what handlers and workers have to do), as far as the trace's records tell: + what the step added, - what it
removed, > what it changed.

Exit codes: 0 no property breaks, 1 a property breaks, in the same run or after it differs, 2 the file is not a trace, or was edited,
damaged or cut, 3 not deterministic: the run differs, but the trace was written by this program (the same commit or release without
local changes), or two replays differ, 4 not decided in time, 5 a defect of informersim. Given several traces, replay plays
all of them, prints a line for each, and the exit code is the highest of theirs.`,
		Example: `  informersim replay my-seed7.trace.jsonl
  informersim replay my-seed7.trace.jsonl --step 41
  informersim replay my-seed7.trace.jsonl --subject client-go@./client-go
  informersim replay traces/*.trace.jsonl`,
		Args: cli.Usage(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return f.all(c, args) },
	}
	c.Flags().StringVar(&f.subject, "subject", "", "play the trace on another subject than its own, as far as that follows: stack, client-go, client-go@`VERSION` or client-go@FOLDER")
	c.Flags().BoolVar(&f.json, "json", false, "print one JSON object per trace instead of text")
	c.Flags().BoolVarP(&f.verbose, "verbose", "v", false, "print what log, reconciles, requests and show say in this run")
	c.Flags().Uint64Var(&f.step, "step", 0, "run nothing, and print step `N` of the trace with the state of every part after it")
	f.timeout.define(c)
	return c
}

// all replays all traces, whatever comes of each. The exit code is the highest of theirs.
func (f *replayFlags) all(c *cobra.Command, paths []string) error {
	if err := f.timeout.check(); err != nil {
		return err
	}
	if c.Flags().Changed("step") {
		return f.state(c, paths)
	}
	if len(paths) == 1 {
		return f.one(c, paths[0], false)
	}
	if f.verbose {
		return fmt.Errorf("-v prints the outputs of one run: give one trace instead of %d", len(paths))
	}
	worst := exitOK
	for _, path := range paths {
		err := f.one(c, path, true)
		if c.Context().Err() != nil {
			return errors.Join(err, c.Context().Err())
		}
		if err != nil && !errors.As(err, new(broken)) && !strings.Contains(err.Error(), path) {
			err = fmt.Errorf("%s: %w", path, err)
		}
		worst = max(worst, exitCode(err, c.ErrOrStderr()))
	}
	if worst != exitOK {
		return reported(worst)
	}
	return nil
}

// one replays a trace and prints what came of it.
func (f *replayFlags) one(c *cobra.Command, path string, many bool) error {
	r, err := newReplayer(c.Context(), path, f.timeout)
	switch {
	case errors.Is(err, errSimtest) && f.subject != "":
		return fmt.Errorf("--subject: %s is the trace of a Go test, whose subject is what the test tests; leave the flag out", path)
	case errors.Is(err, errSimtest):
		return replayTest(c, path)
	case err != nil:
		return err
	}
	defer r.close()
	if f.subject == "" {
		err = r.onOwn()
	} else {
		r.subject, err = hardyNamed(c.Context(), f.subject)
	}
	if err != nil {
		return err
	}
	report, err := r.replay(f.verbose)
	if err != nil {
		return err
	}
	switch {
	case f.json:
		err = reports.WriteJSON(c.OutOrStdout(), report)
	case many:
		_, err = fmt.Fprintln(c.OutOrStdout(), report.Replayed.Line(report.Run))
	default:
		err = reports.WriteText(painter(c.OutOrStdout()), report)
	}
	switch {
	case err != nil:
		return err
	case r.cut != nil && r.cut.Cut == sim.CutInStep:
		return fmt.Errorf("%w; its %d complete steps were replayed", r.cut, report.Replayed.Steps)
	case report.Replayed.NotDeterministic != "":
		return &notDeterministic{path, report.Replayed}
	case !report.Run.Passed():
		return broken{report.Run.Verdict()}
	}
	return nil
}

// notDeterministic is the error of a run that differs from its trace although the program is the same.
type notDeterministic struct {
	path string
	*reports.Replayed
}

func (e *notDeterministic) Error() string {
	return fmt.Sprintf("%s: step %d: %s: %s", e.path, e.Divergence.Step, e.NotDeterministic, reports.PlainLine(e.Divergence.Why))
}
