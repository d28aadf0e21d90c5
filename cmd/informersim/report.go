package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/html"
	"github.com/informersim/informersim/reports/perfetto"
)

// reportFlags are the flags of `informersim report`.
type reportFlags struct {
	out, format string
	force       bool
}

const reportSuffix = ".html"

func newReportCommand() *cobra.Command {
	f := &reportFlags{}
	c := &cobra.Command{
		Use:   "report TRACE|DIR",
		Short: "Render a trace, or all runs of informersim fuzz --out DIR, as one HTML file",
		Long: `report renders a trace as one HTML file that needs no network: the verdict and why, how to see it again, the story, a space-time diagram
to step through with the state of every part, where each version of each object got to, requests, faults and properties.

It is made from the trace alone, of a scenario or of a Go test; nothing is run. Equal traces give equal files. A report has less than
1 MB; of a long run it has what matters around the violation, and says what is left out. A trace without its end is rendered as far as it
goes. The report of my.trace.jsonl is my.html beside it, unless -o says otherwise.

Of a folder that informersim fuzz --out or informersim merge has written, report makes the page that fuzz --report makes: findings by cause,
runs until each was found, and heat maps of which faults met which states of reflectors and which other faults. It is DIR/report.html,
unless -o says otherwise.

--format perfetto writes a file for trace viewers instead, such as https://ui.perfetto.dev: lanes are threads, a microsecond is a step, and
deliveries are flows. It has every step, and lies in my.perfetto.json.`,
		Example: `  informersim report my-seed7.trace.jsonl
  informersim report my-seed7.trace.jsonl -o finding.html
  informersim report my-seed7.trace.jsonl --format perfetto
  informersim report results`,
		Args: cli.Usage(cobra.ExactArgs(1)),
		RunE: func(c *cobra.Command, args []string) error { return f.run(c, args[0]) },
	}
	c.Flags().StringVarP(&f.out, "output", "o", "", "write the report to this `file`")
	c.Flags().StringVar(&f.format, "format", "html", "what is written: html or perfetto")
	c.Flags().BoolVar(&f.force, "force", false, "write over a file that is no report")
	return c
}

func (f *reportFlags) run(c *cobra.Command, path string) error {
	if err := cli.NotEmpty(c, "output"); err != nil {
		return err
	}
	suffix, render := reportSuffix, rendered
	switch f.format {
	case "html":
	case "perfetto":
		suffix, render = perfettoSuffix, perfettoOf
	default:
		return fmt.Errorf("--format %q: use html or perfetto", f.format)
	}
	out := f.out
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return f.folder(c, path)
	}
	data, err := traceText(path)
	if err != nil {
		return err
	}
	if out == "" {
		out = strings.TrimSuffix(strings.TrimSuffix(path, traceSuffix), ".jsonl") + suffix
		if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // a pipe, whose folder is the system's: /dev/stdin
			out = filepath.Base(out)
		}
	}
	target := reportTarget("-o", out, f.force, path)
	target.Default = f.out == ""
	if f.format == "perfetto" && !f.force {
		target.Replaces, target.Kind = isPerfetto, "such a file"
	}
	page, err := render(path, data)
	if err != nil {
		return err
	}
	if err := target.Write(c.Context(), page); err != nil {
		return err
	}
	_, err = fmt.Fprintf(c.OutOrStdout(), "%s\n", out)
	return err
}

// folder writes the page of the campaign in a folder.
func (f *reportFlags) folder(c *cobra.Command, dir string) error {
	if f.format != "html" {
		return fmt.Errorf("--format %s is for a trace; %s is a folder", f.format, reports.PlainLine(dir))
	}
	out := f.out
	if out == "" {
		out = filepath.Join(dir, ensembleFile)
	}
	page, err := ofFolder(dir, out)
	if err != nil {
		return err
	}
	target := reportTarget("-o", out, f.force)
	target.Default = f.out == ""
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

const perfettoSuffix = ".perfetto.json"

// perfettoOf returns a trace as trace viewers read it.
func perfettoOf(path string, trace []byte) ([]byte, error) {
	t, err := timelineIn(path, bytes.NewReader(trace))
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	err = perfetto.Write(&out, t)
	return out.Bytes(), err
}

// isPerfetto tells whether a file was written by --format perfetto.
func isPerfetto(path string) bool { return begins(path, `{"displayTimeUnit":"ms","traceEvents":[`) }
