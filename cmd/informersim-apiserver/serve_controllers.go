package main

import (
	"net/http"
	"slices"
	"time"

	"github.com/informersim/informersim/cmd/internal/serveflags"
	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/controllers"
	"github.com/informersim/informersim/fakeapiserver/discovery"
	"github.com/informersim/informersim/fakeapiserver/transport"
	"github.com/informersim/informersim/internal/controllermanager"
	"github.com/informersim/informersim/internal/controllermanager/basic"
)

// ownControllers start the server's own controllers.
var ownControllers = map[string]func(*fakeapiserver.Cluster, controllers.Options){
	"namespace":         func(c *fakeapiserver.Cluster, o controllers.Options) { controllers.NewNamespaceController(c, o) },
	"garbage-collector": func(c *fakeapiserver.Cluster, o controllers.Options) { controllers.NewGarbageCollector(c, o) },
	"serviceaccount":    func(c *fakeapiserver.Cluster, o controllers.Options) { controllers.NewServiceAccountController(c, o) },
}

// runControllers starts those of the server's own controllers that --controllers names.
func (f server) runControllers(c *fakeapiserver.Cluster) error {
	names, err := serveflags.Enabled(f.Controllers)
	if err != nil {
		return err
	}
	o := controllers.Options{Delay: f.ControllerDelay, Lag: f.ControllerLag}
	if f.Nodes > 0 {
		o.GracePeriod = controllers.PodGrace
	}
	for _, name := range names {
		if start := ownControllers[name]; start != nil {
			start(c, o)
		}
	}
	return nil
}

// runKubernetesControllers starts those of Kubernetes' own controllers that --controllers names. They are clients like any other, faults
// included, but for the socket. stop returns when nothing of them runs any more.
func (f server) runKubernetesControllers(w *served) (stop func(), err error) {
	names, err := serveflags.Enabled(f.Controllers)
	if err != nil {
		return nil, err
	}
	names = slices.DeleteFunc(names, func(name string) bool { return ownControllers[name] != nil })
	if len(names) == 0 {
		return func() {}, nil
	}
	m, err := controllermanager.Start(basic.Options{
		Names: names, Version: discovery.Version.GitVersion,
		Transport: func(client string) http.RoundTripper { return &insider{w, client} },
	})
	if err != nil {
		return nil, err
	}
	return m.Stop, nil
}

// insider sends the requests of a client that is part of the server.
type insider struct {
	w      *served
	client string
}

// RoundTrip implements http.RoundTripper.
func (i *insider) RoundTrip(r *http.Request) (*http.Response, error) {
	t := transport.RoundTripper{Driver: i.w.pump, API: i.w.api, Client: i.w.clients.saw(i.client, time.Now())}
	return t.RoundTrip(r)
}
