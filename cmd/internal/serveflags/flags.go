package serveflags

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/faultmix"
	"github.com/informersim/informersim/fakeapiserver/authorization/modes"
)

// MaxReplicas is the largest value of --replicas.
const MaxReplicas = 5

// MaxNodes is the largest value of --nodes.
const MaxNodes = 1000

// Flags are the flags of `informersim serve`.
type Flags struct {
	Addr, Control, Kubeconfig, Mix, Data string
	Token, TokenFile                     string
	CRDs, Loads, Controllers, Stages     []string
	Authorization                        []string // modes
	ControllerDelay, ControllerLag       time.Duration
	Seed                                 uint64
	Replicas, Nodes                      int
	Bare                                 bool
	TLS                                  bool
}

// NewCommand returns the command. run is called with flags that have passed their checks.
func NewCommand(run func(*cobra.Command, *Flags) error) *cobra.Command {
	f := &Flags{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the fake apiserver over HTTP, for kubectl and any other client",
		Long:  long,
		Example: `  informersim serve --kubeconfig kubeconfig
  informersim serve --addr 127.0.0.1:8080 --crd widgets.yaml --load objects.yaml --control 127.0.0.1:8081
  informersim serve --crd widgets.yaml --load objects.yaml --data session.db
  informersim serve --fault-mix light --seed 7
  informersim serve --nodes 3 --stages pod,pod-faults,node-faults
  informersim serve --controllers '*,-job'
  informersim serve --authorization-mode RBAC --kubeconfig kubeconfig`,
		Args: cli.Usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error {
			if err := cli.NotEmpty(c, "kubeconfig", "data", "fault-mix"); err != nil {
				return err
			}
			if err := f.check(c.Context()); err != nil {
				return err
			}
			if !c.Flags().Changed("controllers") {
				f.Controllers = DefaultControllers(f.Nodes)
			}
			if err := f.checkStages(); err != nil {
				return err
			}
			if err := f.checkTokenFlags(c.Flags().Changed("token"), c.Flags().Changed("token-file")); err != nil {
				return err
			}
			return run(c, f)
		},
	}
	c.Flags().StringVar(&f.Addr, "addr", "127.0.0.1:0", "the `address` to listen on; port 0 takes a free one")
	c.Flags().StringVar(&f.Control, "control", "", "a loopback `address` for the control endpoints (default none)")
	c.Flags().StringArrayVar(&f.CRDs, "crd", nil, "a `file` of CustomResourceDefinitions, YAML or JSON, many documents or a List")
	c.Flags().StringArrayVar(&f.Loads, "load", nil, "a `file` of initial objects, YAML or JSON, many documents or a List; objects that --data already has are left alone")
	c.Flags().StringVar(&f.Data, "data", "", "keep all objects in this `file`, created if needed (default in memory)")
	c.Flags().StringVar(&f.Kubeconfig, "kubeconfig", "", "add this server to the kubeconfig in this `file`, created if needed, and make it the current context; what else is there stays")
	c.Flags().StringVar(&f.Mix, "fault-mix", "", "faults that may hit requests and watches: "+strings.Join(faultmix.Names(), ", ")+", or a YAML or JSON `file`")
	c.Flags().BoolVar(&f.Bare, "bare", false, "start empty: no namespaces, no Service kubernetes, nothing else of a fresh cluster; objects can be created in namespaces that do not exist")
	c.Flags().Uint64Var(&f.Seed, "seed", 1, "seed of uids, generated names and faults")
	c.Flags().BoolVar(&f.TLS, "tls", false, "serve HTTPS, with a certificate made for this run; the kubeconfig has its authority")
	c.Flags().StringVar(&f.Token, "token", "", "the bearer `token` that every request to either listener must present")
	c.Flags().StringVar(&f.TokenFile, "token-file", "", "read the token from this `file`: one line")
	c.Flags().StringSliceVar(&f.Authorization, "authorization-mode", []string{modes.AlwaysAllow}, "the `modes` that say who may do what, asked in this order: "+strings.Join(modes.All, ", "))
	c.Flags().StringSliceVar(&f.Controllers, "controllers", nil, "the `controllers` to run, as for kube-controller-manager: * is all of them, -NAME leaves one out (default namespace; with --nodes *)")
	c.Flags().DurationVar(&f.ControllerDelay, "controller-delay", 0, "the time that one of the server's own controllers takes for each action")
	c.Flags().DurationVar(&f.ControllerLag, "controller-lag", 0, "the time until the server's own controllers see a write")
	c.Flags().IntVar(&f.Nodes, "nodes", 0, "add `N` Nodes, and have Pods live: a scheduler binds them, kubelets take them through their phases, and nodes that are lost lose their Pods")
	c.Flags().StringSliceVar(&f.Stages, "stages", nil, "how Pods and other objects go on by themselves: files of KWOK's Stages, or the sets pod (the default with --nodes), pod-faults, node-faults, and, without the controllers whose work they stand in for, workload and workload-faults")
	c.Flags().IntVar(&f.Replicas, "replicas", 1, fmt.Sprintf("the number of apiservers, 1 to %d; clients are sent to each in turn", MaxReplicas))
	return c
}

// check refuses values that are wrong regardless of the contents of files.
func (f *Flags) check(ctx context.Context) error {
	if err := checkAddress("--addr", f.Addr, f.Token != "" || f.TokenFile != ""); err != nil {
		return err
	}
	if err := checkAddress("--control", f.Control, false); err != nil {
		return err
	}
	if f.Replicas < 1 || f.Replicas > MaxReplicas {
		return fmt.Errorf("--replicas %d is out of range: 1 to %d", f.Replicas, MaxReplicas)
	}
	if f.Nodes < 0 || f.Nodes > MaxNodes {
		return fmt.Errorf("--nodes %d is out of range: 0 to %d", f.Nodes, MaxNodes)
	}
	if f.ControllerDelay < 0 || f.ControllerLag < 0 {
		return errors.New("--controller-delay and --controller-lag must not be negative")
	}
	if _, err := Enabled(f.Controllers); err != nil {
		return fmt.Errorf("--controllers: %w", err)
	}
	if err := modes.Check(f.Authorization); err != nil {
		return fmt.Errorf("--authorization-mode %w", err)
	}
	_, err := faultmix.Load(ctx, f.Mix)
	return err
}

// checkAddress refuses an address that other machines could reach, unless a token guards it.
func checkAddress(flag, addr string, guarded bool) error {
	if addr == "" {
		return nil
	}
	host, _, err := net.SplitHostPort(addr)
	if err != nil {
		return fmt.Errorf("%s %q is not an address: write it like 127.0.0.1:8080", flag, addr)
	}
	ip := net.ParseIP(host)
	switch {
	case guarded || host == "localhost" || ip != nil && ip.IsLoopback():
		return nil
	case flag == "--control":
		return fmt.Errorf("%s %s is not a loopback address: anyone who reaches it could steer the server", flag, addr)
	}
	return fmt.Errorf("%s %s is not a loopback address, so others could reach it: use 127.0.0.1, or guard it with --token or --token-file", flag, addr)
}
