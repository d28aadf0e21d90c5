package main

import (
	"bytes"
	"fmt"
	"os/exec"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/bubble/overlay"
	"github.com/informersim/informersim/cmd/internal/cli"
)

func newOverlayCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "overlay",
		Short: "Write an overlay of Go's runtime that makes simtest tests repeat bit for bit",
		Long: `overlay writes a file for the -overlay flag of go test, and prints its name. In a test built with it, the seed of a run
		decides what Go otherwise leaves to chance: where the iteration of a map begins, which of several ready cases a select takes,
		which of two timers due at the same instant fires first. The same seed is then the same run, on every machine. It also decides, in
half of the runs, where goroutines give way to others, and which goes on.

informersim itself, built with it, interleaves the goroutines of the subject client-go (run, fuzz and verify --interleave).

The toolchain itself is not changed. It must be ` + overlay.Version + `, or one with the same runtime; others are refused.`,
		Example: `  go test -overlay="$(informersim overlay)" ./...
  export GOFLAGS=-overlay=$(informersim overlay)
  go build -overlay="$(informersim overlay)" ./cmd/informersim      in a clone`,
		Args: cli.Usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			name, err := writeOverlay(dir)
			if err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), name)
			return err
		},
	}
	c.Flags().StringVar(&dir, "dir", "", "the folder to write to (default one in the user's cache)")
	return c
}

// gorootOfTool returns the GOROOT of the go command in the current folder.
func gorootOfTool() (string, error) {
	var stderr bytes.Buffer
	cmd := exec.Command("go", "env", "GOROOT")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("the overlay is made from Go's sources, but `go env GOROOT`, which locates them, failed: %w %s", err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
