package main

import (
	"fmt"
	"io"
	"runtime"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/version"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of informersim, the trace format and client-go",
		Example: "  informersim version",
		Args:    cli.Usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := io.WriteString(c.OutOrStdout(), versionText())
			return err
		},
	}
}

// versionText is what version prints, and --version.
func versionText() string {
	v := versions()
	commit := ""
	if v[reports.VersionCommit] != "" {
		commit = "commit " + v[reports.VersionCommit] + "\n"
	}
	return fmt.Sprintf("informersim %s\n%strace format %d\nclient-go %s\n%s %s/%s\n",
		v[reports.VersionProgram], commit, sim.TraceVersion, v[reports.VersionClient], runtime.Version(), runtime.GOOS, runtime.GOARCH)
}

// versions returns the versions in the header of a trace.
func versions() map[string]string {
	v := map[string]string{
		reports.VersionProgram: version.Module(), reports.VersionClient: version.Of("k8s.io/client-go"), reports.VersionGo: runtime.Version(),
	}
	if commit := version.Commit(); commit != "" {
		v[reports.VersionCommit] = commit
	}
	return v
}
