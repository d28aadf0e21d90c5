package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	neturl "net/url"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/client-go/tools/clientcmd"
	clientcmdapi "k8s.io/client-go/tools/clientcmd/api"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/apiextensions"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/sim"
)

// serveFlags are the flags of `informersim serve`.
type serveFlags struct {
	addr, control, kubeconfig, mix, token, data string
	crds, loads, controllers                    []string
	slow, lag                                   time.Duration // of the controllers
	seed                                        uint64
	replicas                                    int
}

func newServeCommand() *cobra.Command {
	f := &serveFlags{}
	c := &cobra.Command{
		Use:   "serve",
		Short: "Serve the fake apiserver over HTTP, for kubectl and any other client",
		Long: `serve runs the fake apiserver on a loopback address, in real time, for kubectl and clients in any language. It serves
the built-in types and the custom resources of --crd. Everything is in memory, unless --data names a file that keeps it.

A second listener, --control ADDR, steers it:
  GET  /revision                the Store's revision
  POST /compact?rev=N           forget every version before N (the current one without rev); cache=keep: in the Store only
  POST /restart?replica=I       restart a replica
  POST /restore?rev=N           put the Store back to revision N; bump=M raises the revision by M
  POST /fault                   inject a fault given as JSON, like {"kind":"watch-410","target":"kubectl","count":3}

A fault's target is a client, named by its User-Agent up to the first slash, which need not have asked for anything yet. replica,
verb, resource, namespace and name narrow it down, probability and count bound it, from and until ("10s") say when, counted from
now, and after what it waits for: {"kind":"watch-eof","after":{"event":"frame","key":"default/a","count":3}}.

With --data every write is in the file before anyone is told of it, so a session goes on after a restart, and after a kill:
objects keep their resourceVersions. History does not: who asks for a revision before the restart gets 410 and lists again.

An address that is not loopback is refused unless --token is given. Ctrl-C ends open watches and stops.`,
		Example: `  informersim serve --kubeconfig kubeconfig
  informersim serve --addr 127.0.0.1:8080 --crd widgets.yaml --load objects.yaml --control 127.0.0.1:8081
  informersim serve --crd widgets.yaml --load objects.yaml --data session.db
  informersim serve --fault-mix light --seed 7`,
		Args: usage(cobra.NoArgs),
		RunE: func(c *cobra.Command, _ []string) error { return f.serve(c) },
	}
	c.Flags().StringVar(&f.addr, "addr", "127.0.0.1:0", "the `address` to listen on; port 0 takes a free one")
	c.Flags().StringVar(&f.control, "control", "", "a loopback `address` for the control endpoints; none without it")
	c.Flags().StringArrayVar(&f.crds, "crd", nil, "a `file` of CustomResourceDefinitions, YAML or JSON, many documents or a List")
	c.Flags().StringArrayVar(&f.loads, "load", nil, "a `file` of objects to begin with, YAML or JSON, many documents or a List; those that --data has already stay as they are")
	c.Flags().StringVar(&f.data, "data", "", "keep all objects in the `file`, which is made if there is none; in memory without it")
	c.Flags().StringVar(&f.kubeconfig, "kubeconfig", "", "write a kubeconfig for this server to the `file`")
	c.Flags().StringVar(&f.mix, "fault-mix", "", "faults that may happen to requests and watches: a name or a `file`")
	c.Flags().Uint64Var(&f.seed, "seed", 1, "seed of uids, generated names and faults")
	c.Flags().StringVar(&f.token, "token", "", "the bearer `token` that every request must present")
	c.Flags().StringSliceVar(&f.controllers, "controllers", []string{"namespace"}, "the `controllers` that run: namespace, which empties namespaces that are deleted, and garbage-collector, which follows ownerReferences")
	c.Flags().DurationVar(&f.slow, "controller-delay", 0, "how long the controllers take for each thing that they do")
	c.Flags().DurationVar(&f.lag, "controller-lag", 0, "how long after a write the controllers learn of it")
	c.Flags().IntVar(&f.replicas, "replicas", 1, "how many apiservers there are, 1 to 5; clients are sent to each in turn")
	return c
}

func (f *serveFlags) serve(c *cobra.Command) error {
	if err := checkAddress("--addr", f.addr, f.token != ""); err != nil {
		return err
	}
	if err := checkAddress("--control", f.control, false); err != nil {
		return err
	}
	if f.replicas < 1 || f.replicas > 5 {
		return fmt.Errorf("--replicas %d is out of range: 1 to 5", f.replicas)
	}
	w, err := f.world(c.ErrOrStderr())
	if err != nil {
		return err
	}
	for _, path := range f.loads {
		if err := w.load(path, c.OutOrStdout()); err != nil {
			return errors.Join(err, w.stop())
		}
	}
	if err := w.enableFaults(); err != nil { // nothing goes wrong before somebody asks for something
		return errors.Join(err, w.stop())
	}
	return errors.Join(f.listen(c, w), w.stop())
}

// served is the world behind the listeners.
type served struct {
	kernel      *sim.Kernel
	cluster     *fakeapiserver.Cluster
	rest        *rest.Server
	definitions *apiextensions.Server
	api         transport.API // rest, or what guards it
	pump        *transport.Pump
	policy      fakeapiserver.Policy
	clients     clientNames
	faults      []fakeapiserver.FaultKind // of --fault-mix
	data        *data                     // nil if everything is in memory
}

// stop ends the world; what it has to keep is kept.
func (w *served) stop() error {
	w.pump.Stop()
	if w.data == nil {
		return nil
	}
	return w.data.close(w.pump)
}

func (f *serveFlags) world(stderr io.Writer) (*served, error) {
	mix, err := loadMix(f.mix)
	if err != nil {
		return nil, err
	}
	o := fakeapiserver.ClusterOptions{Replicas: f.replicas}
	var faults []fakeapiserver.FaultKind
	var strategy sim.Strategy = sim.NewFIFO()
	if mix != nil {
		drawn := mix.Draw(f.seed)
		faults, o.MaxFaults = drawn.Kinds(), drawn.Max
		strategy = sim.NewRandom(f.seed, drawn.Rate)
	}
	reg := types.NewRegistry()
	if err := reg.Add(types.Builtin(types.BuiltinOptions{})...); err != nil {
		return nil, err
	}
	w := &served{faults: faults, kernel: sim.NewKernel(sim.Options{Seed: f.seed, Strategy: strategy})}
	w.kernel.Clock().StartAt(time.Now())
	w.cluster = fakeapiserver.NewCluster(w.kernel, o)
	if f.replicas > 1 {
		w.policy = fakeapiserver.RoundRobin()
	}
	if w.rest, err = rest.New(rest.Options{Cluster: w.cluster, Types: reg, Policy: w.policy}); err != nil {
		return nil, err
	}
	w.api = w.rest
	if err := f.runControllers(w.cluster); err != nil {
		return nil, err
	}
	if w.definitions, err = apiextensions.New(w.cluster, w.rest); err != nil {
		return nil, err
	}
	w.pump = transport.NewPump(w.kernel, func(err error) { fmt.Fprintf(stderr, "error: the server has stopped working: %v\n", err) })
	if f.data != "" {
		if err := w.keepIn(f.data); err != nil {
			return nil, fmt.Errorf("--data: %w", err)
		}
	}
	for _, path := range f.crds {
		if err := w.define(path); err != nil {
			return nil, errors.Join(fmt.Errorf("--crd: %w", err), w.stop())
		}
	}
	return w, nil
}

// checkAddress refuses what other machines could reach, unless that is guarded.
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
		return fmt.Errorf("%s %s is not a loopback address: who reaches it steers the server", flag, addr)
	}
	return fmt.Errorf("%s %s is not a loopback address, so others could reach it: use 127.0.0.1, or guard it with --token", flag, addr)
}

// shutdownPatience is how long Ctrl-C waits for answers under way.
const shutdownPatience = 5 * time.Second

func (f *serveFlags) listen(c *cobra.Command, w *served) error {
	ctx := c.Context()
	ln, err := net.Listen("tcp", f.addr)
	if err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	defer ln.Close()
	control, err := f.listenControl()
	if err != nil {
		return err
	}
	url := "http://" + ln.Addr().String()
	if f.kubeconfig != "" {
		if err := writeKubeconfig(f.kubeconfig, url, f.token); err != nil {
			return err
		}
	}
	logger := log.New(c.ErrOrStderr(), "", log.LstdFlags)
	streams, endStreams := context.WithCancelCause(context.Background())
	defer endStreams(nil)
	server := &http.Server{
		Handler:           &transport.Handler{Driver: w.pump, API: w.api, Token: f.token, Client: w.clientOf, Log: logger},
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 20, ErrorLog: logger,
		BaseContext: func(net.Listener) context.Context { return streams },
	}
	failed := make(chan error, 2)
	go func() { failed <- server.Serve(ln) }()
	fmt.Fprintf(c.OutOrStdout(), "serving on %s\n", url)
	if control != nil {
		steering := &http.Server{Handler: w.controlHandler(), ReadHeaderTimeout: 10 * time.Second, ErrorLog: logger}
		go func() { failed <- steering.Serve(control) }()
		defer steering.Close()
		fmt.Fprintf(c.OutOrStdout(), "control on http://%s\n", control.Addr())
	}
	select {
	case err := <-failed:
		return err
	case <-ctx.Done():
	}
	endStreams(transport.ErrShutdown) // watches end; Shutdown would wait for them
	patience, cancel := context.WithTimeout(context.Background(), shutdownPatience)
	defer cancel()
	err = server.Shutdown(patience)
	fmt.Fprintln(c.OutOrStdout(), "stopped")
	return err
}

// listenControl opens the listener of --control, nil without it.
func (f *serveFlags) listenControl() (net.Listener, error) {
	if f.control == "" {
		return nil, nil
	}
	ln, err := net.Listen("tcp", f.control)
	if err != nil {
		return nil, fmt.Errorf("--control: %w", err)
	}
	return ln, nil
}

func writeKubeconfig(path, url, token string) error {
	config := clientcmdapi.NewConfig()
	server, err := neturl.Parse(url)
	if err != nil {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	if token != "" {
		server.User = neturl.UserPassword("token", token) // client-go sends no bearer token over plain HTTP
	}
	config.Clusters["informersim"] = &clientcmdapi.Cluster{Server: server.String()}
	config.AuthInfos["informersim"] = &clientcmdapi.AuthInfo{Token: token}
	config.Contexts["informersim"] = &clientcmdapi.Context{Cluster: "informersim", AuthInfo: "informersim"}
	config.CurrentContext = "informersim"
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	if err := clientcmd.WriteToFile(*config, path); err != nil {
		return fmt.Errorf("--kubeconfig: %w", err)
	}
	return nil
}

func (w *served) enableFaults() (err error) {
	w.pump.Do(func() { err = w.cluster.EnableFaults(w.faults...) })
	return err
}
