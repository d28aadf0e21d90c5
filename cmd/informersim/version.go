package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/version"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects/clientgo/releases"
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

// programDigest tells programs apart that their versions do not tell apart, by what is in their files: one that is no release, from no commit or from one with
// local changes, or with a module that is not sealed by its version. It is "" for others.
func programDigest(released, sealed bool, commit string) (string, error) {
	if sealed && (released || commit != "" && !strings.HasSuffix(commit, "+dirty")) {
		return "", nil
	}
	path, err := os.Executable()
	if err != nil {
		return "", fmt.Errorf("this program has no version, and its file, which would tell it from others, is not known: %w", err)
	}
	f, err := os.Open(path)
	if err != nil {
		return "", fmt.Errorf("this program has no version, and its file would tell it from others: %w", err)
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("reading this program: %w", err)
	}
	return fmt.Sprintf("%x", h.Sum(nil))[:16], nil
}

// clientGo is the module of the subject client-go.
const clientGo = "k8s.io/client-go"

// clientIsChanged says that the subject client-go is not the release as it was published. It is a variable so that a test can say so.
var clientIsChanged = version.Changed(clientGo, releases.BuiltIn)

// versions returns the versions in the header of a trace.
func versions() map[string]string {
	v := map[string]string{
		reports.VersionProgram: version.Module(), reports.VersionClient: version.Of(clientGo), reports.VersionGo: runtime.Version(),
	}
	if commit := version.Commit(); commit != "" {
		v[reports.VersionCommit] = commit
	}
	return v
}
