package main

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"time"

	"github.com/spf13/cobra"
	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/informersim/informersim/cmd/internal/faultmix"
	"github.com/informersim/informersim/cmd/internal/serveflags"
	"github.com/informersim/informersim/cmd/internal/webhooks"
	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/aggregation"
	"github.com/informersim/informersim/fakeapiserver/apiextensions"
	"github.com/informersim/informersim/fakeapiserver/authentication"
	"github.com/informersim/informersim/fakeapiserver/authorization"
	"github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/fault"
	"github.com/informersim/informersim/fakeapiserver/quotas"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/sim"
)

// server is a run of `informersim serve`.
type server struct {
	*serveflags.Flags
	tls   *tls.Config             // nil for plain HTTP
	ca    []byte                  // the authority of a certificate made for this run, as PEM
	proof *authentication.Options // how clients prove whom they are; nil if whoever comes in is the administrator
}

func newServeCommand() *cobra.Command {
	return serveflags.NewCommand(func(c *cobra.Command, f *serveflags.Flags) error { return server{Flags: f}.serve(c) })
}

func (f server) serve(c *cobra.Command) error {
	if err := f.ReadToken(c.Context()); err != nil {
		return err
	}
	if f.Kubeconfig != "" {
		if _, err := f.mergedKubeconfig("http://127.0.0.1"); err != nil { // before anything is opened
			return err
		}
	}
	ln, err := net.Listen("tcp", f.Addr) // discovery names the address, and the Service kubernetes its port
	if err != nil {
		return fmt.Errorf("--addr: %w", err)
	}
	defer ln.Close()
	w, err := f.world(c.Context(), ln.Addr())
	if err != nil {
		return err
	}
	if !f.Bare {
		if err := w.bootstrap(ln.Addr(), c.OutOrStdout()); err != nil {
			return errors.Join(err, w.stop())
		}
	}
	for _, path := range f.Loads {
		if err := w.load(c.Context(), path, c.OutOrStdout()); err != nil {
			return errors.Join(err, w.stop())
		}
	}
	if err := w.startNodes(f, c.ErrOrStderr()); err != nil {
		return errors.Join(err, w.stop())
	}
	if err := w.enableFaults(); err != nil { // --load must not meet faults
		return errors.Join(err, w.stop())
	}
	stop, err := f.runKubernetesControllers(w)
	if err != nil {
		return errors.Join(err, w.stop())
	}
	err = f.listen(c, w, ln)
	stop()
	return errors.Join(err, w.stop())
}

// requestTimeout is the default of a real server's --request-timeout.
const requestTimeout = time.Minute

// served is the world behind the listeners.
type served struct {
	kernel      *sim.Kernel
	cluster     *fakeapiserver.Cluster
	rest        *rest.Server
	definitions *apiextensions.Server
	aggregation *aggregation.Server // nil for a bare server
	api         transport.API       // rest, or rest behind --data
	pump        *transport.Pump
	authorizer  *authorization.Authorizer // nil if everyone may do everything
	tokens      *builtin.Tokens           // of ServiceAccounts
	policy      fakeapiserver.Policy
	clients     clientNames
	faults      []fault.Kind // of --fault-mix
	data        *data        // nil if everything is in memory
	failed      chan error   // gets the error that ended the kernel's run
}

// stop stops the world and, with --data, saves its state.
func (w *served) stop() error {
	w.pump.Stop()
	if w.data == nil {
		return nil
	}
	return w.data.close(w.pump)
}

func (f server) world(ctx context.Context, addr net.Addr) (*served, error) {
	mix, err := faultmix.Load(ctx, f.Mix)
	if err != nil {
		return nil, err
	}
	o := fakeapiserver.ClusterOptions{Replicas: f.Replicas, Progress: true} // nobody ends these faults, and people wait
	var faults []fault.Kind
	var strategy sim.Strategy = sim.NewFIFO()
	if mix != nil {
		drawn := mix.Draw(f.Seed)
		faults, o.MaxFaults = drawn.Kinds(), drawn.Max
		strategy = sim.NewRandom(f.Seed, drawn.Rate)
	}
	w := &served{faults: faults, kernel: sim.NewKernel(sim.Options{Seed: f.Seed, Strategy: strategy}), failed: make(chan error, 1)}
	w.kernel.Clock().StartAt(time.Now())
	w.cluster = fakeapiserver.NewCluster(w.kernel, o)
	reg, err := f.types(w)
	if err != nil {
		return nil, err
	}
	if f.Replicas > 1 {
		w.policy = fakeapiserver.RoundRobin()
	}
	if w.tokens, err = w.newTokens(); err != nil {
		return nil, err
	}
	background := &transport.Background{}
	asked, err := webhooks.New(w.cluster, reg, f.Bare, w.outside())
	if err != nil {
		return nil, err
	}
	limits, err := quotas.New()
	if err != nil {
		return nil, err
	}
	pages, err := f.pages(addr)
	if err != nil {
		return nil, err
	}
	if w.rest, err = rest.New(rest.Options{
		Cluster: w.cluster, Types: reg, Policy: w.policy, Ready: w.writable, Background: background.Run, Beside: background.Beside, Admission: asked,
		Authorizer: w.inside(), Quotas: limits, Namespaces: !f.Bare, Components: f.components(), Pages: pages, Address: addr.String(), Timeout: requestTimeout,
	}); err != nil {
		return nil, err
	}
	w.api = w.rest
	if err := f.runControllers(w.cluster); err != nil {
		return nil, err
	}
	if w.definitions, err = apiextensions.New(w.cluster, w.rest); err != nil {
		return nil, err
	}
	converters, err := webhooks.Converters()
	if err != nil {
		return nil, err
	}
	w.definitions.ConvertBy(converters)
	if !f.Bare {
		if w.aggregation, err = aggregation.New(w.cluster, w.rest); err != nil {
			return nil, err
		}
	}
	w.pump = transport.NewPump(w.kernel, func(err error) { w.failed <- err })
	background.Driver = w.pump
	if f.Data != "" {
		if err := w.persist(f.Data); err != nil {
			return nil, fmt.Errorf("--data: %w", err)
		}
	}
	for _, path := range f.CRDs {
		if err := w.define(ctx, path); err != nil {
			return nil, errors.Join(fmt.Errorf("--crd: %w", err), w.stop())
		}
	}
	return w, nil
}

func (f server) listen(c *cobra.Command, w *served, ln net.Listener) error {
	ctx := c.Context()
	control, err := f.listenControl()
	if err != nil {
		return err
	}
	url := "http://" + ln.Addr().String()
	if f.TLS {
		url = "https://" + ln.Addr().String()
		if f.tls == nil {
			if f.tls, f.ca, err = madeCertificate(ln.Addr()); err != nil {
				return fmt.Errorf("--tls: %w", err)
			}
		}
	}
	if f.Kubeconfig != "" {
		if err := f.writeKubeconfig(ctx, url); err != nil {
			return err
		}
	}
	logger := log.New(c.ErrOrStderr(), "", log.LstdFlags)
	streams, endStreams := context.WithCancelCause(context.Background())
	defer endStreams(nil)
	var busy inFlight
	server := &http.Server{
		Handler: busy.count(f.guarded(w, &transport.Handler{Driver: w.pump, API: w.api, Client: w.clientOf, Log: logger})), TLSConfig: f.tls,
		ReadHeaderTimeout: 10 * time.Second, IdleTimeout: 2 * time.Minute, MaxHeaderBytes: 1 << 20, ErrorLog: logger,
		BaseContext: func(net.Listener) context.Context { return streams },
	}
	failed := make(chan error, 2)
	go func() { failed <- serveOn(server, ln) }()
	fmt.Fprintf(c.OutOrStdout(), "serving on %s\n", url)
	if control != nil {
		handler := onlyFor(&transport.Guard{Token: f.Token, NoBrowsers: true}, w.controlHandler())
		steering := &http.Server{Handler: handler, ReadHeaderTimeout: 10 * time.Second, ErrorLog: logger}
		go func() { failed <- steering.Serve(control) }()
		defer steering.Close()
		fmt.Fprintf(c.OutOrStdout(), "control on http://%s\n", control.Addr())
	}
	select {
	case err := <-failed:
		return err
	case err := <-w.failed:
		endStreams(transport.ErrShutdown)
		return errors.Join(fmt.Errorf("the server has stopped: %w", err), server.Close())
	case <-ctx.Done():
	}
	endStreams(transport.ErrShutdown) // watches end, and half-sent requests; Shutdown would wait for them
	err = busy.shutdown(server, c.ErrOrStderr())
	fmt.Fprintln(c.OutOrStdout(), "stopped")
	return err
}

// guarded lets in those who may come in: whoever proves who he is, or whoever the guard lets in.
func (f server) guarded(w *served, h *transport.Handler) http.Handler {
	if f.proof != nil {
		return transport.Identify(authentication.Filter(w.proofs(*f.proof), h))
	}
	h.Guard = &transport.Guard{Token: f.Token}
	who, o := types.Administrator(), authentication.Options{Authorizer: w.outside()}
	if f.Token == "" { // otherwise it is the only one that opens the door
		o = w.proofs(o)
	}
	return transport.Identify(authentication.Open(&user.DefaultInfo{Name: who.Name, Groups: who.Groups}, o, h))
}

// serveOn serves HTTPS if the server has a certificate, and HTTP if it has none.
func serveOn(s *http.Server, ln net.Listener) error {
	if s.TLSConfig != nil {
		return s.ServeTLS(ln, "", "")
	}
	return s.Serve(ln)
}

// listenControl opens the listener of --control, nil without it.
func (f server) listenControl() (net.Listener, error) {
	if f.Control == "" {
		return nil, nil
	}
	ln, err := net.Listen("tcp", f.Control)
	if err != nil {
		return nil, fmt.Errorf("--control: %w", err)
	}
	return ln, nil
}

func (w *served) enableFaults() (err error) {
	w.pump.Do(func() { err = w.cluster.EnableFaults(w.faults...) })
	return err
}
