package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/reports/html"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/script"
)

// forceHelp is the help of --force.
const forceHelp = "overwrite files that are not of the kind that is written; what the command reads is never overwritten"

// traceTarget is the file of --trace. Without force it replaces nothing but a trace.
func traceTarget(path string, force bool, inputs ...string) outfile.Target {
	t := outfile.Target{Path: path, Flag: "--trace", Inputs: inputs}
	if !force {
		t.Replaces, t.Kind = outfile.IsTrace, "a trace"
	}
	return t
}

// scenarioTarget is a scenario to be written. Without force it replaces nothing but a scenario.
func scenarioTarget(flag, path string, force bool, inputs ...string) outfile.Target {
	t := outfile.Target{Path: path, Flag: flag, Inputs: inputs}
	if !force {
		t.Replaces, t.Kind = isScenario, "a scenario"
	}
	return t
}

func isScenario(path string) bool {
	s, err := scenarios.Load(path)
	return err == nil && len(s.File().Commands()) > 0
}

// final is a target of a command without --force.
func final(t outfile.Target) outfile.Target {
	t.Final = true
	return t
}

// reportTarget is the file of a report. Without force it replaces nothing but a report.
func reportTarget(flag, path string, force bool, inputs ...string) outfile.Target {
	t := outfile.Target{Path: path, Flag: flag, Inputs: inputs}
	if !force {
		t.Replaces, t.Kind = isReport, "a report"
	}
	return t
}

// isReport tells whether a file begins as a report does.
func isReport(path string) bool { return begins(path, html.Generator) }

// begins reports whether a text stands near the beginning of a file. It does not open what is not a regular file.
func begins(path, text string) bool {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return false
	}
	f, err := os.Open(path)
	if err != nil {
		return false
	}
	defer f.Close()
	start := make([]byte, 512)
	n, _ := io.ReadFull(f, start)
	return bytes.Contains(start[:n], []byte(text))
}

// openTrace opens a trace that the user names.
func openTrace(path string) (*os.File, error) {
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return nil, fmt.Errorf("%s: it is a directory; name a trace in it, which mostly ends in %s", path, traceSuffix)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, inputError(path, err)
	}
	return f, nil
}

// inputError is the error of an input that cannot be read.
func inputError(path string, err error) error {
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%s: there is no such file; %s", path, script.MissingHint(path))
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%s: permission denied; check its permissions", path)
	}
	var onPath *fs.PathError
	if errors.As(err, &onPath) {
		err = onPath.Err
	}
	return fmt.Errorf("%s: reading it failed: %w", path, err)
}

// traceText reads a trace that the user names.
func traceText(path string) ([]byte, error) {
	f, err := openTrace(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	data, err := io.ReadAll(f)
	if err != nil {
		return nil, inputError(path, err)
	}
	return data, nil
}

// loadScenario reads the scenario of a command line, the built-in one if it names none, unless ctx ends first.
func loadScenario(ctx context.Context, args []string) (*scenarios.Scenario, error) {
	if len(args) == 0 {
		return scenarios.BuiltIn(), nil
	}
	path := args[0]
	if outfile.IsTrace(path) {
		return nil, fmt.Errorf("%s is a trace, not a scenario; to see its run again, use replay: informersim replay %s", path, reports.ShellPath(path))
	}
	s, err := cli.Await(ctx, func() (*scenarios.Scenario, error) { return scenarios.Load(path) })
	if err == nil && len(s.File().Commands()) == 0 {
		return nil, fmt.Errorf("%s: there is no command in it; informersim run --help lists the commands of a scenario", path)
	}
	return s, err
}
