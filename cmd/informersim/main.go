package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/sim"
)

// The exit codes.
const (
	exitOK               = 0
	exitBroken           = 1   // a property broke, or a transcript is not as expected
	exitBadInput         = 2   // the command line or a file is wrong
	exitNotDeterministic = 3   // a run did not do the same again
	exitInterrupted      = 130 // Ctrl-C
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// broken says that something was found; the command has printed what.
type broken struct{ what string }

func (e broken) Error() string { return e.what }

// usageError is a command line that the command does not take.
type usageError struct {
	command string
	err     error
}

func (e usageError) Error() string { return e.err.Error() }

// usage wraps a check of arguments, so that its error says where help is.
func usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		if err := check(c, args); err != nil {
			if strings.Contains(err.Error(), "arg(s)") { // a count is what cobra complains of, in its own words
				err = fmt.Errorf("%s was given %d arguments; it is used so: %s %s", c.Name(), len(args), c.Root().Name(), c.Use)
			}
			return usageError{c.CommandPath(), err}
		}
		return nil
	}
}

// run is main without the process: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	root := newRoot()
	root.SetArgs(args)
	root.SetOut(stdout)
	root.SetErr(stderr)
	err := root.ExecuteContext(ctx)
	if err == nil {
		return exitOK
	}
	var b broken
	var diverged *sim.DivergedError
	switch {
	case errors.As(err, &b):
		return exitBroken
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, strings.Replace(err.Error(), context.Canceled.Error(), "interrupted", 1))
		return exitInterrupted
	case errors.As(err, new(differs)):
		fmt.Fprintf(stderr, "not deterministic: %v\n", err)
		return exitNotDeterministic
	case errors.As(err, &diverged):
		fmt.Fprintf(stderr, "not deterministic: %v\n", err)
		return exitNotDeterministic
	}
	fmt.Fprintf(stderr, "error: %s\n", strings.TrimRight(err.Error(), "\n"))
	var u usageError
	if errors.As(err, &u) {
		fmt.Fprintf(stderr, "see %s --help\n", u.command)
	}
	return exitBadInput
}

func newRoot() *cobra.Command {
	root := &cobra.Command{
		Use:   "informersim",
		Short: "Deterministic simulation testing for Kubernetes informers and the controllers built on them",
		Long: `informersim runs a Kubernetes informer stack against a deterministic fake apiserver on virtual time, injects the
faults that real watches meet, checks properties after every step, and turns a failure into a trace that replays.

Exit codes: 0 fine, 1 a property broke, 2 bad input, 3 not deterministic, 130 interrupted.`,
		Example: `  informersim run                                      the built-in scenario
  informersim run my.sim                               a scenario, as its transcript says
  informersim run my.sim --seed 1..200 --fault-mix default
  informersim replay my-seed7.trace.jsonl`,
		SilenceErrors:              true,
		SilenceUsage:               true,
		SuggestionsMinimumDistance: 2,
		Args:                       usage(knownCommand),
		RunE: func(c *cobra.Command, _ []string) error {
			return c.Help()
		},
	}
	root.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageError{c.CommandPath(), err} })
	root.CompletionOptions.HiddenDefaultCmd = true
	root.AddCommand(newRunCommand(), newReplayCommand(), newVerifyCommand(), newDiffCommand(), newImportCommand(), newVersionCommand(), newServeCommand(), newOverlayCommand())
	return root
}

// knownCommand refuses a word that is no command, and says which one may have been meant.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	if near := c.SuggestionsFor(args[0]); len(near) > 0 {
		return fmt.Errorf("there is no command %q; did you mean %q?", args[0], near[0])
	}
	return fmt.Errorf("there is no command %q", args[0])
}
