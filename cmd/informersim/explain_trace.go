package main

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/terminal"
	"github.com/informersim/informersim/reports/timeline"
	"github.com/informersim/informersim/sim"
)

func newExplainCommand() *cobra.Command {
	var object string
	c := &cobra.Command{
		Use:   "explain TRACE",
		Short: "Say why a run ended as it did: the causal chain back to the faults and writes",
		Long: `explain says why the run of a trace ended as it did. It prints the verdict and its proof, then the way of the newest version of the object
that the verdict is about: which replica applied it, who was sent it, who learned of it by a list, who never did, which watch ended and
which fault hit in between; and where each version of the object got to. It is made from the trace alone, of a scenario or of a Go
test; nothing is run. --object explains another object.

Exit codes: 0 the trace was read, whatever its verdict; 2 bad input.`,
		Example: `  informersim explain my-seed7.trace.jsonl
  informersim explain my-seed7.trace.jsonl --object "pods default/b"`,
		Args: cli.Usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			if err := cli.NotEmpty(c, "object"); err != nil {
				return err
			}
			t, err := timelineOf(args[0])
			if err != nil {
				return err
			}
			t.File = args[0]
			of, err := objectIn(t, object)
			if err != nil {
				return fmt.Errorf("%s: %w", args[0], err)
			}
			_, err = io.WriteString(painter(c.OutOrStdout()), terminal.Explain(t, of))
			return err
		},
	}
	c.Flags().StringVar(&object, "object", "", "the object to explain, as `\"RESOURCE NAMESPACE/NAME\"` or NAMESPACE/NAME (default the one that the verdict is about)")
	return c
}

// readTrace opens a trace for read.
func readTrace(path string, read func(*sim.TraceReader) error) error {
	in, err := openTrace(path)
	if err != nil {
		return err
	}
	defer in.Close()
	tr, err := sim.NewTraceReader(path, in)
	if err != nil {
		return err
	}
	return read(tr)
}

func timelineOf(path string) (*timeline.Timeline, error) {
	in, err := openTrace(path)
	if err != nil {
		return nil, err
	}
	defer in.Close()
	return timelineIn(path, in)
}

// timelineIn reads a trace, which errors call path.
func timelineIn(path string, in io.Reader) (*timeline.Timeline, error) {
	tr, err := sim.NewTraceReader(path, in)
	if err != nil {
		return nil, err
	}
	return timeline.Read(tr)
}

// objectIn returns an object by its key, with or without the resource; nil for "".
func objectIn(t *timeline.Timeline, key string) (*timeline.Object, error) {
	if key == "" {
		return nil, nil
	}
	if o := t.Object(key); o != nil {
		return o, nil
	}
	var some []string
	for _, o := range t.Objects {
		some = append(some, fmt.Sprintf("%q", o.Key))
	}
	if len(some) == 0 {
		return nil, errors.New("nothing was written in this run")
	}
	const most = 10
	more := ""
	if n := len(some) - most; n > 0 {
		some, more = some[:most], fmt.Sprintf(" and %d more", n)
	}
	return nil, fmt.Errorf("there is no object %q in this run; there are %s%s", key, strings.Join(some, ", "), more)
}

// state prints a step of a trace.
func (f *replayFlags) state(c *cobra.Command, paths []string) error {
	if len(paths) != 1 || f.json || f.verbose || f.subject != "" {
		return errors.New("--step prints a step of one trace, as text, and runs nothing: leave out other traces, --json, -v and --subject")
	}
	t, err := timelineOf(paths[0])
	if err != nil {
		return err
	}
	text, err := terminal.State(t, f.step)
	if err != nil {
		return fmt.Errorf("--step: %s: %w", reports.PlainLine(paths[0]), err)
	}
	_, err = io.WriteString(painter(c.OutOrStdout()), text)
	return err
}
