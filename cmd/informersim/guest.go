package main

import (
	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/guests"
)

// newGuestCommand returns the command that makes the runs of the subject client-go@built-in, for the process that starts it.
func newGuestCommand() *cobra.Command {
	return &cobra.Command{
		Use:    guests.Command,
		Short:  "Hold client-go for the process that starts this, which runs " + guests.BuiltIn,
		Args:   cli.Usage(cobra.NoArgs),
		Hidden: true,
		RunE:   func(*cobra.Command, []string) error { return guests.Serve() },
	}
}
