package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/version"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	cli.SurviveFileLimit()
	klog.LogToStderr(false) // but for errors: Kubernetes' code reports what it does, each address that a Service gets
	klog.SetOutput(io.Discard)
	context.AfterFunc(ctx, stop) // a second Ctrl-C ends the program at once
	code := runAs(ctx, os.Args[0], os.Args[1:], os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}

// runAs is main without os.Exit: it returns the exit code.
func runAs(ctx context.Context, program string, args []string, stdout, stderr io.Writer) int {
	if other := personality(program); other != nil {
		return cli.Report(stderr, cli.Execute(ctx, cli.PrepareProgram(other), args, stdout, stderr))
	}
	return run(ctx, args, stdout, stderr)
}

// run runs the program under its own name.
func run(ctx context.Context, args []string, stdout, stderr io.Writer) int {
	return cli.Report(stderr, cli.Execute(ctx, newRoot(), args, stdout, stderr))
}

func newRoot() *cobra.Command {
	root := cli.Prepare(&cobra.Command{
		Use:   "informersim-apiserver",
		Short: "The program that `informersim serve` and Go tests start",
		Long: `informersim-apiserver implements informersim serve and informersim world. It takes the same flags and can be started directly, for example
		in a container that needs nothing else.

Exit codes: 0 fine, 2 bad input, 130 interrupted.`,
		Example: `  informersim-apiserver serve --kubeconfig kubeconfig`,
	})
	root.AddCommand(newServeCommand(), newWorldCommand(), newVersionCommand(), newKubeAPIServerCommand(), newEtcdCommand())
	return root
}

func newVersionCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "version",
		Short:   "Print the versions of informersim-apiserver and of the protocol between it and informersim",
		Example: "  informersim-apiserver version",
		Args:    cli.Usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			_, err := fmt.Fprint(c.OutOrStdout(), version.Own())
			return err
		},
	}
}
