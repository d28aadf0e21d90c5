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
		Short: "Write an overlay of Go's runtime with which tests that use simtest repeat bit for bit",
		Long: `overlay writes a file for the flag -overlay of go test, and prints its name. In a test that is built with it, the seed of a
run decides what Go leaves to chance otherwise: where the iteration of a map begins, which of several ready cases a select
takes, which of two timers of one instant fires first. The same seed is then the same run, on every machine.

The toolchain is not changed. It has to be ` + overlay.Version + `; for another one whose runtime differs the command says so.`,
		Example: `  go test -overlay="$(informersim overlay)" ./...
  export GOFLAGS=-overlay=$(informersim overlay)`,
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
	c.Flags().StringVar(&dir, "dir", "", "the folder to write to; by default one in the user's cache")
	return c
}

// gorootOfTool is where the sources of the go command lie that builds in this folder.
func gorootOfTool() (string, error) {
	var stderr bytes.Buffer
	cmd := exec.Command("go", "env", "GOROOT")
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return "", fmt.Errorf("the overlay is made from the sources of Go, and the command `go env GOROOT` says where they are: %w %s", err, strings.TrimSpace(stderr.String()))
	}
	return strings.TrimSpace(string(out)), nil
}
