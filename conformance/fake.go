package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"

	"github.com/informersim/informersim/conformance/probe"
	"github.com/informersim/informersim/conformance/resources"
	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/apiextensions"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/fakeapiserver/types/crd"
	"github.com/informersim/informersim/sim"
)

// fakeTarget is a fake apiserver of one replica on a loopback socket, stepped in real time.
type fakeTarget struct {
	cluster *fakeapiserver.Cluster
	api     transport.API
	pump    *transport.Pump
	front   *httptest.Server
}

// newFakeTarget serves the conformance resources.
func newFakeTarget() (*fakeTarget, error) {
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
	return &fakeTarget{cluster, api, pump, front}, nil
}

// Root implements probe.Target.
func (t *fakeTarget) Root() string { return t.front.URL }

// Compact implements probe.Target.
func (t *fakeTarget) Compact(_ context.Context, revision int64, storageOnly bool) (err error) {
	t.pump.Do(func() {
		store := t.cluster.Store()
		if revision == 0 {
			revision = store.Revision()
		}
		if store.Compacted() >= revision {
			return
		}
		if storageOnly {
			err = t.cluster.CompactStore(revision)
		} else {
			err = t.cluster.Compact(revision)
		}
	})
	return err
}

// Restart implements probe.Target.
func (t *fakeTarget) Restart(context.Context) error {
	t.pump.Do(func() { t.cluster.Replica(0).Restart() })
	return nil
}

func (t *fakeTarget) stop() {
	t.front.CloseClientConnections()
	t.front.Close()
	t.pump.Stop()
}

// fakeTargets starts n fake apiservers.
func fakeTargets(n int) ([]probe.Target, func(), error) {
	var targets []probe.Target
	var started []*fakeTarget
	stop := func() {
		for _, t := range started {
			t.stop()
		}
		http.DefaultClient.CloseIdleConnections()
	}
	for range n {
		t, err := newFakeTarget()
		if err != nil {
			stop()
			return nil, nil, err
		}
		started, targets = append(started, t), append(targets, t)
	}
	return targets, stop, nil
}
