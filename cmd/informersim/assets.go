package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/assets"
	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/launcher"
)

func newAssetsCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "assets [DIR]",
		Short: "Write the programs that envtest starts, so that a suite runs on the fake apiserver",
		Long: `assets writes kube-apiserver, etcd and kubectl, and prints the folder they are in: DIR, or one of this version in the user's cache.
A suite that uses controller-runtime's envtest finds them there, and runs unchanged, on the fake apiserver of informersim serve.

kube-apiserver takes the flags of a real one. etcd only answers health checks. kubectl is Kubernetes' own, which its first start builds.
They do not depend on this program, or on the PATH. Programs in DIR that informersim has not written are not overwritten.

In the environment of the tests, INFORMERSIM_FAULT_MIX names faults that requests and watches meet, as --fault-mix of serve does,
INFORMERSIM_SEED their seed, and INFORMERSIM_CONTROLLERS controllers to run, as --controllers does; as under envtest there are none otherwise.`,
		Example: `  KUBEBUILDER_ASSETS="$(informersim assets)" go test ./...
  INFORMERSIM_FAULT_MIX=light INFORMERSIM_SEED=7 KUBEBUILDER_ASSETS="$(informersim assets)" go test ./...`,
		Args: cli.Usage(cobra.MaximumNArgs(1)),
		RunE: func(c *cobra.Command, args []string) error {
			dir, err := launcher.Folder("assets")
			if err != nil {
				return err
			}
			if len(args) > 0 {
				if dir = args[0]; dir == "" {
					return fmt.Errorf("DIR is empty: name a folder, or leave it out for one in the user's cache")
				}
			}
			server, err := launcher.Find(c.Context(), c.ErrOrStderr())
			if err != nil {
				return err
			}
			if dir, err = assets.Write(dir, server); err != nil {
				return err
			}
			_, err = fmt.Fprintln(c.OutOrStdout(), dir)
			return err
		},
	}
}
