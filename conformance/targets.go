package main

import (
	"context"
	"fmt"

	"golang.org/x/sync/errgroup"

	"github.com/informersim/informersim/conformance/kubeserver"
	"github.com/informersim/informersim/conformance/realserver"
	"github.com/informersim/informersim/internal/probe"
	"github.com/informersim/informersim/internal/probe/fake"
	"github.com/informersim/informersim/internal/probe/resources"
)

// realTarget controls a real apiserver.
type realTarget struct{ server *realserver.Server }

func (t realTarget) Root() string { return t.server.URL }

// Compact discards history in etcd, and in the watch caches by restarting them: nothing else makes a watch cache discard
// its history before 75 seconds have passed.
func (t realTarget) Compact(ctx context.Context, revision int64, storageOnly bool) error {
	if err := t.server.Compact(ctx, revision); err != nil || storageOnly {
		return err
	}
	return t.server.Restart(ctx)
}

func (t realTarget) Restart(ctx context.Context) error { return t.server.Restart(ctx) }

// latePaths maps paths to a text that appears there some time after the conformance resources are served.
var latePaths = map[string]string{"/openapi/v3": resources.Group + "/v1", "/apis": resources.Group}

// startLimit is the number of servers that start concurrently.
const startLimit = 2

// realTargets starts n real apiservers.
func realTargets(ctx context.Context, n int, start func(context.Context) (*realserver.Server, error)) ([]probe.Target, func(), error) {
	servers := make([]*realserver.Server, n)
	starting, startCtx := errgroup.WithContext(ctx)
	starting.SetLimit(startLimit)
	for i := range servers {
		starting.Go(func() (err error) {
			servers[i], err = start(startCtx)
			return err
		})
	}
	err := starting.Wait()
	stop := func() {
		for _, server := range servers {
			if server != nil {
				server.Stop()
			}
		}
	}
	if err != nil {
		stop()
		return nil, nil, fmt.Errorf("start a real apiserver: %w", err)
	}
	var targets []probe.Target
	for _, server := range servers {
		targets = append(targets, realTarget{server})
	}
	return targets, stop, nil
}

// startReal starts one apiserver and waits until all of it is ready.
func startReal(ctx context.Context) (*realserver.Server, error) {
	server, err := realserver.Start(context.WithoutCancel(ctx), realserver.Options{})
	if err != nil {
		return nil, err
	}
	for path, text := range latePaths {
		if err := server.WaitPath(ctx, path, text); err != nil {
			server.Stop()
			return nil, err
		}
	}
	return server, nil
}

// startKube starts a kube-apiserver and waits until it has written all that a fresh one writes.
func startKube(ctx context.Context, o realserver.Options) (*realserver.Server, error) {
	o.CRDs, o.Warm = kubeserver.NoCRDs, kubeserver.Bootstrap
	if o.Launch == nil {
		o.Launch = kubeserver.Launch
	}
	server, err := realserver.Start(context.WithoutCancel(ctx), o)
	if err != nil {
		return nil, err
	}
	if err := server.WaitQuiet(ctx); err != nil {
		server.Stop()
		return nil, err
	}
	return server, nil
}

// realTargets starts n real apiservers of the kind that the flags choose.
func (s *settings) realTargets(ctx context.Context, n int) ([]probe.Target, func(), error) {
	if s.kind == kindKube {
		return realTargets(ctx, n, func(ctx context.Context) (*realserver.Server, error) {
			return startKube(ctx, realserver.Options{})
		})
	}
	return realTargets(ctx, n, startReal)
}

// startTargets starts the servers under test.
func (s *settings) startTargets(ctx context.Context, n int) ([]probe.Target, func(), error) {
	switch {
	case s.url != "":
		return []probe.Target{probe.RemoteTarget{URL: s.url, Control: s.control}}, func() {}, nil
	case s.target == "fake" && s.kind == kindKube:
		return serveAll(ctx, n, s.apiserver, serveFlags)
	case s.target == "fake" && s.kind == kindNodes:
		return serveAll(ctx, n, s.apiserver, nodeFlags)
	case s.target == "fake":
		return fake.StartAll(n)
	case s.target == "real" && s.kind == kindNodes:
		return startNodes(ctx)
	case s.target == "real":
		return s.realTargets(ctx, n)
	}
	return nil, nil, fmt.Errorf("--target %q: want fake or real, or --url of a running server", s.target)
}
