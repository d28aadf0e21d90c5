package main

import (
	"context"
	"errors"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/version"
	"github.com/informersim/informersim/internal/outfile"
	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/world"
	"github.com/informersim/informersim/world/wire"
)

// gcPercent is how much garbage, in percent of what is live, makes the engine collect it. A run leaves little behind when it is over, and the test
// waits for each step: with Go's 100, runs took a tenth longer. $GOGC decides where it is set.
const gcPercent = 400

func newWorldCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "world",
		Short: "Make the runs of a Go test (package simtest), which starts this",
		Long: `world is the engine of Go tests with package simtest. The test starts it, writes what it wants to its standard input and reads the
		answers from its standard output. It ends with its input: when the test has ended, whatever the way.`,
		Example: `  INFORMERSIM=/opt/informersim-apiserver go test ./...   tests that are to use this one`,
		Args:    cli.Usage(cobra.NoArgs),
		RunE: func(*cobra.Command, []string) error {
			canary := newCanary()
			defer canary.close()
			// An interrupt at the terminal is for the test. What the engine has to say of a test that ends this way it says at the end of its
			// input, and a pipe that nobody reads any more must not end it before.
			signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGPIPE)
			out := os.Stdout
			os.Stdout = os.Stderr         // nothing else may be written there
			klog.SetLogger(klog.Logger{}) // what an apiserver logs of a webhook that fails is in the run's story
			if os.Getenv("GOGC") == "" {
				debug.SetGCPercent(gcPercent)
			}
			release := wire.Devel
			if version.Released() {
				release = version.Module()
			}
			return world.Serve(os.Stdin, out, world.Host{
				Release: release, Versions: programVersions(), Stderr: os.Stderr, Now: time.Now, Store: storeTrace, Spare: spareTrace, Interrupted: canary.interrupted,
				Kubernetes: startControllers, Stopped: canary.stopped, Again: startAgain, Awaited: isAwaited,
			})
		},
	}
}

// programVersions are those of this program, for the header of a trace, which lacks what is not known.
func programVersions() map[string]string {
	return map[string]string{reports.VersionProgram: version.Module(), reports.VersionCommit: version.Commit()}
}

// storeTrace writes the trace of a failure below the test's folder. Where the test has died, nothing may interrupt it.
func storeTrace(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return outfile.Target{Path: path, Mode: 0o644}.Write(context.Background(), data)
}

// spareTrace writes what is kept nowhere else to a temporary file.
func spareTrace(suffix string, data []byte) (string, error) {
	f, err := os.CreateTemp("", "informersim-*"+suffix)
	if err != nil {
		return "", err
	}
	_, err = f.Write(data)
	if err = errors.Join(err, f.Close()); err != nil {
		return "", errors.Join(err, os.Remove(f.Name())) // a part of a trace is of no use
	}
	return f.Name(), nil
}
