package main

import (
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/sim"
)

func newReplayCommand() *cobra.Command {
	var asJSON bool
	c := &cobra.Command{
		Use:   "replay TRACE...",
		Short: "Replay a trace and compare every step with it",
		Long: `replay repeats the choices of a trace, with the random numbers that it recorded, and compares every record and the hash of every
step. It prints the verdict of the run. The trace of a Go test, written by package simtest, is replayed by that test, with the
go command, if the test's package can be found from the current folder.

Exit codes: 0 the same run, 1 the same run, in which a property breaks, 2 the file is not a trace, or was edited or truncated, 3
the run differs: the first differing step is printed. Given several traces, replay plays all of them; the exit code is the
highest of theirs.`,
		Example: `  informersim replay my-seed7.trace.jsonl
  informersim replay traces/*.trace.jsonl`,
		Args: cli.Usage(cobra.MinimumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return replayAll(c, args, asJSON) },
	}
	c.Flags().BoolVar(&asJSON, "json", false, "print one JSON object per trace instead of text")
	return c
}

// replayAll replays all traces, whatever comes of each. The exit code is the highest of theirs.
func replayAll(c *cobra.Command, paths []string, asJSON bool) error {
	if len(paths) == 1 {
		return replayAndPrint(c, paths[0], asJSON, false)
	}
	worst := exitOK
	for _, path := range paths {
		err := replayAndPrint(c, path, asJSON, true)
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

func replayAndPrint(c *cobra.Command, path string, asJSON, many bool) error {
	res, end, err := replayOne(c, path)
	switch {
	case errors.Is(err, errSimtest):
		return replayTest(c, path)
	case errors.As(err, new(*sim.DivergedError)):
		return fmt.Errorf("%s: %w", path, err)
	case err != nil:
		return err
	}
	switch {
	case asJSON:
		err = reports.WriteJSON(c.OutOrStdout(), reports.Report{Run: &res.Run})
	case many:
		_, err = fmt.Fprintf(c.OutOrStdout(), "%s: same run: %d steps, hash %s, verdict %s\n", path, end.Steps, end.Hash, end.Verdict)
	default:
		fmt.Fprintf(c.OutOrStdout(), "replayed %s: the same run, step by step\n", path)
		err = reports.WriteText(c.OutOrStdout(), reports.Report{Run: &res.Run})
	}
	if err == nil && !res.Passed() {
		return broken{res.Verdict()}
	}
	return err
}

func replayOne(c *cobra.Command, path string) (*scenarios.Result, *sim.TraceEnd, error) {
	in, err := os.Open(path)
	if err != nil {
		return nil, nil, err
	}
	defer in.Close()
	tr, err := sim.NewTraceReader(path, in)
	if err != nil {
		return nil, nil, err
	}
	h := tr.Header()
	if h.Subject == simtestSubject {
		return nil, nil, errSimtest
	}
	s, err := subjectNamed(h.Subject)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", path, err)
	}
	res, err := scenarios.Replay(c.Context(), tr, scenarios.Options{Subject: s, Properties: properties.All()})
	if err != nil {
		return nil, nil, err
	}
	end := tr.End()
	if end.Verdict != res.Verdict() {
		return nil, nil, &sim.DivergedError{Step: res.Steps, Why: fmt.Sprintf("the verdict is %s, in the trace %s", res.Verdict(), end.Verdict)}
	}
	return res, end, nil
}
