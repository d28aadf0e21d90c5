package main

import (
	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/launcher"
)

// newWorldCommand returns a command that becomes informersim-apiserver, which is the engine of Go tests.
func newWorldCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "world",
		Short: "Make the runs of a Go test (package simtest), which starts this",
		Long: `world is the engine of Go tests with package simtest. The test starts it, writes what it wants to its standard input and reads the
		answers from its standard output. The program behind it is informersim-apiserver, as for serve.`,
		Example: `  INFORMERSIM="$(which informersim)" go test ./...   tests that are to use this one`,
		Args:    cli.Usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			return launcher.Run(c.Context(), []string{"world"}, c.ErrOrStderr())
		},
	}
}
