package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/launcher"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// simtestSubject is the subject in traces of package simtest.
const simtestSubject = "simtest"

var errSimtest = errors.New("it is the trace of a Go test")

// Parts of the output of a test that is given a trace: of another build of the program, or damaged; and of one whose seed makes
// different runs.
const (
	doesNotFit    = "does not fit this program"
	doesNotRepeat = "does not repeat"
)

// differs is the error of a test whose runs of one seed differ; the test has printed where.
type differs struct{ path string }

func (e differs) Error() string {
	return "the run of " + e.path + " " + doesNotRepeat + "; see the test's output above"
}

// pathElement matches a part of an import path.
var pathElement = regexp.MustCompile(`^[A-Za-z0-9_.~][A-Za-z0-9_.~+-]*$`)

// patterns are names that the go command takes for many packages.
var patterns = []string{"all", "cmd", "std", "tool", "work"}

// isPackage reports whether a trace's package may be passed to the go command. The file is not trusted: a flag, a pattern for
// many packages, or a path to elsewhere is no import path.
func isPackage(path string) bool {
	if path == "." {
		return true // a test that does not know its package writes this
	}
	for part := range strings.SplitSeq(path, "/") {
		if !pathElement.MatchString(part) || strings.Trim(part, ".") == "" || strings.Contains(part, "...") {
			return false
		}
	}
	return !slices.Contains(patterns, path)
}

// replayTest replays the trace of a test by running that test.
func replayTest(c *cobra.Command, path string) error {
	h, err := headerOf(path)
	if err != nil {
		return err
	}
	file, err := filepath.Abs(path)
	if err != nil {
		return err
	}
	pkg := h.Options["package"]
	if !isPackage(pkg) {
		return fmt.Errorf("%s: it is the trace of a Go test of %q, which is not a package", path, pkg)
	}
	seeded := h.Options["runtime"] == "seeded"
	parts := strings.Split(h.Scenario, "/")
	for i, p := range parts {
		parts[i] = "^" + regexp.QuoteMeta(p) + "$"
	}
	pattern := strings.Join(parts, "/")
	line := "go test"
	if seeded {
		line = "informersim go test"
	}
	line += fmt.Sprintf(" %s -v -run %s -simtest.replay=%s", reports.ShellQuote(pkg), reports.ShellQuote(pattern), reports.ShellQuote(file))
	what := fmt.Sprintf("%s is a trace of the Go test %s of %s, seed %d", path, reports.PlainLine(h.Scenario), pkg, h.Seed)
	if was := h.Options["shrunkFrom"]; was != "" {
		what += ", shrunk from " + reports.PlainLine(was)
	}
	if err := exec.CommandContext(c.Context(), "go", "list", "-test", pkg).Run(); c.Context().Err() != nil {
		return c.Context().Err()
	} else if err != nil {
		return fmt.Errorf("%s, which was not found from here: in the folder of its module, run\n  %s", what, line)
	}
	fmt.Fprintf(c.OutOrStdout(), "%s\n  %s\n", what, line)

	tool, env, args := "go", os.Environ(), []string{"test", "-count=1"}
	if seeded {
		t, edits, err := launcher.Overlay(c.Context(), "", env)
		if err != nil {
			return err
		}
		tool, env = t.Command, t.Env
		args = append(args, "-overlay", edits)
	}
	var said bytes.Buffer
	cmd := exec.CommandContext(c.Context(), tool, append(args, pkg, "-v", "-run", pattern, "-simtest.replay="+file)...)
	cmd.Env = append(env, "NO_COLOR=1", "GINKGO_NO_COLOR=TRUE") // colors would be printed as escaped text
	cmd.Stdout = io.MultiWriter(c.OutOrStdout(), &said)
	cmd.Stderr = c.ErrOrStderr()
	err = cmd.Run()
	var exit *exec.ExitError
	switch {
	case c.Context().Err() != nil:
		return c.Context().Err()
	case err == nil && !bytes.Contains(said.Bytes(), []byte("no tests to run")):
		return nil
	case err == nil:
		return fmt.Errorf("%s, which no longer has this test", what)
	case !errors.As(err, &exit):
		return fmt.Errorf("%s: %w", what, err)
	case bytes.Contains(said.Bytes(), []byte(doesNotRepeat)):
		return differs{path}
	case bytes.Contains(said.Bytes(), []byte(doesNotFit)):
		return fmt.Errorf("%s %s; see the test's output above", path, doesNotFit)
	case !bytes.Contains(said.Bytes(), []byte("--- FAIL")):
		return fmt.Errorf("%s, and go test could not run it", what)
	}
	return broken{h.Scenario}
}

func headerOf(path string) (h *sim.Header, err error) {
	err = readTrace(path, func(tr *sim.TraceReader) error {
		of := tr.Header()
		h = &of
		return nil
	})
	return h, err
}
