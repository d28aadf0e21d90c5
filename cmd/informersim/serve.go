package main

import (
	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/launcher"
	"github.com/informersim/informersim/cmd/internal/serveflags"
)

// newServeCommand returns a command that checks its flags and hands the command line to informersim-apiserver.
func newServeCommand(args []string) *cobra.Command {
	return serveflags.NewCommand(func(c *cobra.Command, _ *serveflags.Flags) error {
		return launcher.Run(c.Context(), args, c.ErrOrStderr())
	})
}
