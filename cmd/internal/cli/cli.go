package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/reports"
)

// The exit codes.
const (
	OK          = 0
	BadInput    = 2   // the command line or a file is wrong
	Interrupted = 130 // Ctrl-C
)

// usageError is the error of a wrong command line.
type usageError struct {
	command string
	err     error
}

func (e usageError) Error() string { return e.err.Error() }
func (e usageError) Unwrap() error { return e.err }

// Usage wraps a check of arguments: its error points to the command's help.
func Usage(check cobra.PositionalArgs) cobra.PositionalArgs {
	return func(c *cobra.Command, args []string) error {
		err := check(c, args)
		if err == nil {
			return nil
		}
		if strings.Contains(err.Error(), "arg(s)") { // cobra counts; the usage line says more
			err = fmt.Errorf("%s was given %d arguments; usage: %s %s", c.Name(), len(args), c.Root().Name(), c.Use)
		}
		return usageError{c.CommandPath(), err}
	}
}

// Prepare applies the common settings of root commands.
func Prepare(root *cobra.Command) *cobra.Command {
	root.SilenceErrors, root.SilenceUsage = true, true
	root.SuggestionsMinimumDistance = 2
	root.Args = Usage(knownCommand)
	root.RunE = func(c *cobra.Command, _ []string) error { return c.Help() }
	root.SetFlagErrorFunc(flagError)
	root.CompletionOptions.HiddenDefaultCmd = true
	return root
}

// PrepareProgram applies the common settings of a command that is a program of its own.
func PrepareProgram(c *cobra.Command) *cobra.Command {
	c.SilenceErrors, c.SilenceUsage = true, true
	c.SetFlagErrorFunc(func(c *cobra.Command, err error) error { return usageError{c.CommandPath(), err} })
	c.CompletionOptions.DisableDefaultCmd = true
	return c
}

// knownCommand refuses an unknown command and suggests a similar one.
func knownCommand(c *cobra.Command, args []string) error {
	if len(args) == 0 {
		return nil
	}
	near := c.SuggestionsFor(args[0])
	switch {
	case len(near) > 0 && near[0] == args[0]:
		return fmt.Errorf("%q is a command, which comes before flags and --: %s %s", args[0], c.Name(), args[0])
	case len(near) > 0:
		return fmt.Errorf("there is no command %q; did you mean %q?", args[0], near[0])
	}
	return fmt.Errorf("there is no command %q", args[0])
}

// Execute runs a command line. What it prints is plain text: no name in a script or trace gets an escape sequence out. Output that
// cannot be written ends the command with an error.
func Execute(ctx context.Context, root *cobra.Command, args []string, stdout, stderr io.Writer) error {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	out := &output{w: stdout, failed: cancel}
	root.SetArgs(args)
	root.SetOut(reports.NewPlainWriter(out))
	root.SetErr(reports.NewPlainWriter(stderr))
	err := untilInterrupted(ctx, func() error { return root.ExecuteContext(ctx) })
	if lost := out.error(); lost != nil {
		return fmt.Errorf("the output cannot be written: %w", lost)
	}
	return err
}

// Grace is how long an interrupted command may take to end. A server waits for its requests, and does not take longer.
var Grace = 7 * time.Second

// untilInterrupted runs a command. One that is interrupted and does not end is given up: nothing ends its wait for a FIFO that
// nobody writes, or for a disk that does not answer.
func untilInterrupted(ctx context.Context, command func() error) error {
	done := make(chan error, 1)
	go func() { done <- command() }()
	select {
	case err := <-done:
		return err
	case <-ctx.Done():
	}
	select {
	case err := <-done:
		return err
	case <-time.After(Grace):
		return ctx.Err()
	}
}

// output is the standard output of a command.
type output struct {
	w      io.Writer
	failed func()

	mu  sync.Mutex
	err error // the first
}

// Unwrap returns the writer behind this one.
func (o *output) Unwrap() io.Writer { return o.w }

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if o.err != nil {
		return 0, o.err
	}
	n, err := o.w.Write(b)
	if err != nil {
		o.err = err
		o.failed()
	}
	return n, err
}

func (o *output) error() error {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.err
}

// Report prints an error and returns the exit code for it.
func Report(stderr io.Writer, err error) int {
	stderr = reports.NewPlainWriter(stderr)
	switch {
	case err == nil:
		return OK
	case errors.Is(err, context.Canceled):
		fmt.Fprintln(stderr, strings.Replace(err.Error(), context.Canceled.Error(), "interrupted", 1))
		return Interrupted
	}
	fmt.Fprintf(stderr, "error: %s\n", Plain(strings.TrimRight(err.Error(), "\n")))
	var u usageError
	if errors.As(err, &u) {
		fmt.Fprintf(stderr, "see %s --help\n", u.command)
	}
	return BadInput
}

// NotEmpty refuses flags that are given without a value, as a shell does with a variable that is not set.
func NotEmpty(c *cobra.Command, names ...string) error {
	for _, name := range names {
		if f := c.Flags().Lookup(name); f.Changed && strings.TrimSpace(f.Value.String()) == "" {
			return fmt.Errorf("--%s is given without a value; leave the flag out, or write one", name)
		}
	}
	return nil
}
