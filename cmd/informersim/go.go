package main

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/bubble/overlay"
	"github.com/informersim/informersim/cmd/internal/launcher"
)

// overlaidCommands are those of the go command that build, and so take an overlay.
var overlaidCommands = []string{"build", "install", "list", "run", "test", "vet"}

func newGoCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "go " + strings.Join(overlaidCommands, "|") + " [arguments of the go command]",
		Short: "Run the go command with the overlay of Go's runtime, which makes simtest tests repeat bit for bit",
		Long: `go runs the go command with the arguments given, and with an overlay of Go's runtime. In a test built with it, the seed of a run
decides what Go otherwise leaves to chance: where the iteration of a map begins, which of several ready cases a select takes,
which of two timers due at the same instant fires first. The same seed is then the same run, on every machine. It also decides, in
half of the runs, where goroutines give way to others, and which goes on.

informersim itself, built with it, interleaves the goroutines of the subject client-go (run, fuzz and verify --interleave).

The first time compiles the standard library anew, which takes minutes. The toolchain itself is not changed. It is the one that the go command
takes, one that it has downloaded (GOTOOLCHAIN, or a line of go.mod) included, and must be of ` + overlay.Versions + `, or have the
same runtime; others are refused. The exit code is the go command's.`,
		Example: `  informersim go test ./...
  informersim go test -run '^TestController$' . -simtest.verify -simtest.seeds 100
  informersim go build ./cmd/informersim      in a clone`,
		DisableFlagParsing: true, // the flags are the go command's
		RunE: func(c *cobra.Command, args []string) error {
			if len(args) > 0 && slices.Contains([]string{"-h", "--help", "help"}, args[0]) {
				return c.Help()
			}
			folder, command, place, err := goArguments(args)
			if err != nil {
				return fmt.Errorf("%w; see informersim go --help", err)
			}
			return launcher.RunGo(c.Context(), folder, command, args, place)
		},
	}
}

// goArguments returns the folder and the command that arguments of the go command name, and where a flag can stand among them: after the command, and after -C,
// which comes first.
func goArguments(args []string) (folder, command string, place int, err error) {
	changed := func() error {
		if place >= len(args) {
			return nil
		}
		name, value, equals := strings.Cut(args[place], "=")
		if name != "-C" && name != "--C" {
			return nil
		}
		place++
		if !equals {
			if place == len(args) {
				return errors.New("-C needs a folder")
			}
			value = args[place]
			place++
		}
		folder = value
		return nil
	}
	if err := changed(); err != nil {
		return "", "", 0, err
	}
	if place == len(args) {
		return "", "", 0, errors.New("no command of the go command was given, such as test")
	}
	command = args[place]
	if !slices.Contains(overlaidCommands, command) {
		return "", "", 0, fmt.Errorf("%q is no command of the go command that builds: %s", command, strings.Join(overlaidCommands, ", "))
	}
	place++
	if err := changed(); err != nil {
		return "", "", 0, err
	}
	for _, text := range append(strings.Fields(os.Getenv("GOFLAGS")), args[place:]...) {
		if text == "-args" || text == "--args" {
			break
		}
		if name, _, _ := strings.Cut(text, "="); name == "-overlay" || name == "--overlay" {
			return "", "", 0, fmt.Errorf("%s would take the place of the overlay of Go's runtime: leave it out", text)
		}
	}
	return folder, command, place, nil
}
