package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/launcher"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// The exit codes.
const (
	exitOK               = cli.OK
	exitBroken           = 1 // a property broke, or a transcript differs from the expected one
	exitBadInput         = cli.BadInput
	exitNotDeterministic = 3 // a run was not repeatable
	exitUndecided        = 4 // a run took longer than --timeout
	exitDefect           = 5 // informersim itself is wrong
	exitInterrupted      = cli.Interrupted
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	cli.SurviveFileLimit()
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code := run(ctx, os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// broken is the error of a failed check, which the command has already reported.
type broken struct{ what string }

func (e broken) Error() string { return e.what }

// run is main without os.Exit: it returns the exit code.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return exitCode(cli.Execute(withStderr(ctx, stderr), newRoot(args), args, stdout, stderr), stderr)
}

// reported is the exit code of a command that has printed its errors.
type reported int

func (e reported) Error() string { return fmt.Sprintf("exit code %d", int(e)) }

// exitCode prints an error and returns the exit code for it.
func exitCode(err error, stderr io.Writer) int {
	code := codeOf(err)
	plain := reports.NewPlainWriter(stderr)
	switch {
	case errors.As(err, new(reported)), errors.As(err, new(launcher.ExitStatus)), code == exitBroken:
	case code == exitNotDeterministic:
		fmt.Fprintf(plain, "not deterministic: %v\n", err)
	case code == exitUndecided:
		fmt.Fprintf(plain, "not decided: %v\n", err)
	default:
		cli.Report(stderr, err)
	}
	return code
}

// codeOf returns the exit code for an error.
func codeOf(err error) int {
	var code reported
	var status launcher.ExitStatus
	var ofChild *answered
	var tooMany *tooManyUndecided
	switch {
	case err == nil:
		return exitOK
	case errors.As(err, &code):
		return int(code)
	case errors.As(err, new(broken)):
		return exitBroken
	case errors.Is(err, context.Canceled):
		return exitInterrupted
	case errors.As(err, &tooMany):
		return tooMany.code()
	case errors.As(err, &ofChild):
		return ofChild.code
	case errors.As(err, new(differs)), errors.As(err, new(*notDeterministic)), errors.As(err, new(*sim.DivergedError)):
		return exitNotDeterministic
	case errors.As(err, &status):
		return int(status)
	case undecided(err):
		return exitUndecided
	case errors.As(err, new(*sim.DefectError)):
		return exitDefect
	}
	return exitBadInput
}

// newRoot returns the root command for a command line.
func newRoot(args []string) *cobra.Command {
	root := cli.Prepare(&cobra.Command{
		Use:   "informersim",
		Short: "Deterministic simulation testing for Kubernetes informers and the controllers built on them",
		Long: `informersim runs a Kubernetes informer stack against a deterministic fake apiserver on virtual time, injects the
faults that real watches meet, checks properties after every step, and turns a failure into a trace that replays.

Exit codes: 0 fine, 1 a property broke, 2 bad input, 3 not deterministic, 4 not decided in time, 5 a defect of informersim, 130
interrupted.`,
		Example: `  informersim run                                      the built-in scenario
  informersim run my.sim                               a scenario, compared with its transcript
  informersim run my.sim --seed 1..200 --fault-mix default
  informersim fuzz --for 10m                           generated scenarios, until a property breaks
  informersim replay my-seed7.trace.jsonl
  informersim report my-seed7.trace.jsonl              the run as one HTML file, step by step
  informersim bisect my.sim                            on every release of client-go
  informersim explain my-seed7.trace.jsonl             why it ended as it did
  informersim tui my-seed7.trace.jsonl                 step through it in the terminal`,
	})
	root.Version = versions()[reports.VersionProgram] // without one, there is no --version
	root.SetVersionTemplate(versionText())
	root.AddCommand(
		newRunCommand(), newFuzzCommand(), newMergeCommand(), newReplayCommand(), newReportCommand(), newExplainCommand(), newTUICommand(), newShrinkCommand(),
		newVerifyCommand(), newDiffCommand(), newBisectCommand(), newImportCommand(), newServeCommand(args), newAssetsCommand(), newWorldCommand(), newGoCommand(), newOverlayCommand(),
		newMutantsCommand(), newMuseumCommand(), newWildCommand(), newCatalogCommand(), newVersionCommand(), newGuestCommand(),
	)
	return root
}
