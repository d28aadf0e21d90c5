package main

import (
	"context"
	"fmt"

	"github.com/informersim/informersim/conformance/probe"
	"github.com/informersim/informersim/conformance/realserver"
	"github.com/informersim/informersim/conformance/resources"
)

// realTarget steers a real apiserver.
type realTarget struct{ server *realserver.Server }

func (t realTarget) Root() string { return t.server.URL }

// Compact forgets history in etcd, and in the watch caches by beginning them anew: nothing else makes a watch cache
// forget before its 75 seconds are over.
func (t realTarget) Compact(ctx context.Context, revision int64, storageOnly bool) error {
	if err := t.server.Compact(ctx, revision); err != nil || storageOnly {
		return err
	}
	return t.server.Restart(ctx)
}

func (t realTarget) Restart(ctx context.Context) error { return t.server.Restart(ctx) }

// latePaths are where the conformance resources appear some time after they are served.
var latePaths = map[string]string{"/openapi/v3": resources.Group + "/v1", "/apis": resources.Group}

// realTargets starts n real apiservers.
func realTargets(ctx context.Context, n int) ([]probe.Target, func(), error) {
	var targets []probe.Target
	var servers []*realserver.Server
	stop := func() {
		for _, server := range servers {
			server.Stop()
		}
	}
	for range n {
		server, err := realserver.Start(ctx, realserver.Options{})
		if err != nil {
			stop()
			return nil, nil, fmt.Errorf("start a real apiserver: %w", err)
		}
		servers = append(servers, server)
		targets = append(targets, realTarget{server})
		for path, text := range latePaths {
			if err := server.WaitPath(ctx, path, text); err != nil {
				stop()
				return nil, nil, err
			}
		}
	}
	return targets, stop, nil
}

// targets are the servers under test.
func (s *settings) targets(ctx context.Context, n int) ([]probe.Target, func(), error) {
	switch {
	case s.url != "":
		return []probe.Target{probe.RemoteTarget{URL: s.url, Control: s.control}}, func() {}, nil
	case s.target == "real":
		return realTargets(ctx, n)
	}
	return nil, nil, fmt.Errorf("--target %q: want real, or --url of a running server", s.target)
}
