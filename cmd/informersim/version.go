package main

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/sim"
)

// version is set by release builds with -ldflags "-X main.version=v1.2.3".
var version = "devel"

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the version of informersim, of the trace format and of client-go",
		Example: "  informersim version",
		Args:    usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			v := versions()
			_, err := fmt.Fprintf(c.OutOrStdout(), "informersim %s\ntrace format %d\nclient-go %s\n%s %s/%s\n",
				v["informersim"], sim.TraceVersion, v["client-go"], runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		},
	}
}

// versions are what goes into the header of a trace.
func versions() map[string]string {
	v := map[string]string{"informersim": version, "client-go": "unknown"}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return v
	}
	if version == "devel" && info.Main.Version != "" && info.Main.Version != "(devel)" {
		v["informersim"] = info.Main.Version
	}
	for _, m := range info.Deps {
		if m.Path == "k8s.io/client-go" {
			v["client-go"] = m.Version
		}
	}
	return v
}
