package main

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/reports/html"
)

// reportFlags are the flags of `informersim report`.
type reportFlags struct {
	out   string
	force bool
}

const reportSuffix = ".html"

func newReportCommand() *cobra.Command {
	f := &reportFlags{}
	c := &cobra.Command{
		Use:   "report TRACE",
		Short: "Render a trace as one HTML file: the verdict, the story, and every step to look at",
		Long: `report renders a trace as one HTML file that needs no network: the verdict and why, how to see it again, the story, a space-time diagram
to step through with the state of every part, where each version of each object got to, requests, faults and properties.

It is made from the trace alone, of a scenario or of a Go test; nothing is run. Equal traces give equal files. A report has less than
1 MB; of a long run it has what matters around the violation, and says what is left out. A trace without its end is rendered as far as it
goes. The report of my.trace.jsonl is my.html beside it, unless -o says otherwise.`,
		Example: `  informersim report my-seed7.trace.jsonl
  informersim report my-seed7.trace.jsonl -o finding.html`,
		Args: cli.Usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the report to this `file`")
	c.Flags().BoolVar(&f.force, "force", false, "write over a file that is no report")
	return c
}

func (f *reportFlags) run(c *cobra.Command, path string) error {
	if err := cli.NotEmpty(c, "output"); err != nil {
		return err
	}
	out := f.out
	if out == "" {
		out = strings.TrimSuffix(strings.TrimSuffix(path, traceSuffix), ".jsonl") + reportSuffix
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	target := reportTarget("-o", out, f.force, path)
	page, err := rendered(path, data)
	if err != nil {
		return err
	}
	if err := target.Write(c.Context(), page); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s\n", out)
	return err
}

// rendered returns the report of a trace.
func rendered(path string, trace []byte) ([]byte, error) {
	var page bytes.Buffer
	err := html.Write(&page, path, bytes.NewReader(trace))
	return page.Bytes(), err
}

// writeReport writes the report of the trace at path.
func writeReport(ctx context.Context, path string, target outfile.Target) error {
	trace, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	page, err := rendered(path, trace)
	if err != nil {
		return err
	}
	return target.Write(ctx, page)
}
