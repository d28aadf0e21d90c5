package main

import (
	"fmt"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/version"
	"github.com/informersim/informersim/sim"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of informersim, the trace format and client-go",
		Example: "  informersim version",
		Args:    cli.Usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			v := versions()
			_, err := fmt.Fprintf(c.OutOrStdout(), "informersim %s\ntrace format %d\nclient-go %s\n%s %s/%s\n",
				v["informersim"], sim.TraceVersion, v["client-go"], runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// versions returns the versions in the header of a trace.
func versions() map[string]string {
	return map[string]string{"informersim": version.Module(), "client-go": version.Of("k8s.io/client-go")}
}
