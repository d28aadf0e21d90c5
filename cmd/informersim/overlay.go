package main

import (
	"context"
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/bubble/overlay"
	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/launcher"
)

func newOverlayCommand() *cobra.Command {
	var dir string
	c := &cobra.Command{
		Use:   "overlay",
		Short: "Write the overlay of Go's runtime that informersim go passes",
		Long: `overlay writes a file for the -overlay flag of the go command, and prints its name: for other programs that pass flags to it.
informersim go passes it itself, and says what it does.

The toolchain itself is not changed. It must be of ` + overlay.Versions + `, or have the same runtime; others are refused. So is one that the go command
has downloaded: it takes no overlay of what lies in its module cache (go.dev/issue/78644). informersim go gets around that.`,
		Example: `  go build -overlay="$(informersim overlay)" .
  export GOFLAGS=-overlay=$(informersim overlay)`,
		Args: cli.Usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			name, err := writeOverlay(c.Context(), dir)
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

// writeOverlay writes the overlay of Go's runtime to a folder, or to the user's cache if dir is "".
func writeOverlay(ctx context.Context, dir string) (string, error) {
	t, err := launcher.Toolchain(ctx, "", os.Environ())
	if err != nil {
		return "", err
	}
	if t.Downloaded() {
		return "", fmt.Errorf("%s was downloaded by the go command, which takes no overlay of what is in its module cache: run informersim go test, which gets around that, "+
			"in place of go test -overlay", t.Version)
	}
	if dir == "" {
		if dir, err = launcher.OverlayFolder(); err != nil {
			return "", fmt.Errorf("%w; say where with informersim overlay --dir", err)
		}
	}
	return overlay.Write(t.Root, dir)
}
