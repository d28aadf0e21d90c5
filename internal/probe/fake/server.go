package fake

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"time"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/apiextensions"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
	"github.com/informersim/informersim/internal/probe"
	"github.com/informersim/informersim/internal/probe/resources"
	"github.com/informersim/informersim/sim"
)

// A Server is a fake apiserver of one replica on a loopback socket, stepped in real time.
type Server struct {
	cluster *fakeapiserver.Cluster
	api     transport.API
	pump    *transport.Pump
	front   *httptest.Server
}

// Start starts a server of the conformance resources.
func Start() (*Server, error) {
	k := sim.NewKernel(sim.Options{Seed: 1, Strategy: sim.NewFIFO()})
	cluster := fakeapiserver.NewCluster(k, fakeapiserver.ClusterOptions{Replicas: 1})
	definitions, err := crd.LoadManifests(strings.NewReader(resources.CRDs))
	if err != nil {
		return nil, fmt.Errorf("load the conformance resources: %w", err)
	}
	api, err := rest.New(rest.Options{Cluster: cluster, Types: types.NewRegistry()})
	if err != nil {
		return nil, fmt.Errorf("build the fake apiserver: %w", err)
	}
	served, err := apiextensions.New(cluster, api)
	if err != nil {
		return nil, fmt.Errorf("build the fake apiserver: %w", err)
	}
	quiet := log.New(io.Discard, "", 0)
	// Probes of managedFields begin early in a second of the real clock (see probe.Run): the server's seconds are the same.
	k.Clock().StartAt(time.Now())
	pump := transport.NewPump(k, func(err error) { log.Print("the fake apiserver's kernel stopped: ", err) })
	for _, d := range definitions {
		pump.Do(func() { err = served.Install(d) })
		if err != nil {
			return nil, fmt.Errorf("serve the conformance resources: %w", err)
		}
	}
	front := httptest.NewUnstartedServer(&transport.Handler{Driver: pump, API: api, Log: quiet})
	front.Config.ErrorLog = quiet
	front.Start()
	return &Server{cluster, api, pump, front}, nil
}

// Root implements probe.Target.
func (s *Server) Root() string { return s.front.URL }

// Compact implements probe.Target.
func (s *Server) Compact(_ context.Context, revision int64, storageOnly bool) (err error) {
	s.pump.Do(func() {
		store := s.cluster.Store()
		if revision == 0 {
			revision = store.Revision()
		}
		if store.Compacted() >= revision {
			return
		}
		if storageOnly {
			err = s.cluster.CompactStore(revision)
		} else {
			err = s.cluster.Compact(revision)
		}
	})
	return err
}

// Restart implements probe.Target.
func (s *Server) Restart(context.Context) error {
	s.pump.Do(func() { s.cluster.Replica(0).Restart() })
	return nil
}

// RoundTripper returns a transport that asks the server without the socket.
func (s *Server) RoundTripper() http.RoundTripper {
	return &transport.RoundTripper{Driver: s.pump, API: s.api}
}

// Stop closes the server and its connections.
func (s *Server) Stop() {
	s.front.CloseClientConnections()
	s.front.Close()
	s.pump.Stop()
}

// StartAll starts n servers. The function returned stops them.
func StartAll(n int) ([]probe.Target, func(), error) {
	var targets []probe.Target
	var started []*Server
	stop := func() {
		for _, s := range started {
			s.Stop()
		}
		http.DefaultClient.CloseIdleConnections()
	}
	for range n {
		s, err := Start()
		if err != nil {
			stop()
			return nil, nil, err
		}
		started, targets = append(started, s), append(targets, s)
	}
	return targets, stop, nil
}
