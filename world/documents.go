package world

import (
	"net/http"
	"net/url"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/sim"
)

// documents answers requests that are not for a resource: discovery, OpenAPI, the version. The answers depend only on the
// resources that are served, and are given at once, outside of the kernel's steps: clients ask for them while they hold locks (a
// RESTMapper's, a cache's), and a goroutine that waits for a lock keeps a bubble from coming to rest.
type documents struct {
	registry *types.Registry

	changes int         // of the registry, when the server was made
	kernel  *sim.Kernel // its own, with nothing but a server
	server  *rest.Server
	client  requester
	cached  map[string]*sink
}

// get answers a request.
func (d *documents) get(method string, u *url.URL, h http.Header) (*sink, error) {
	if d.changes != d.registry.Changes() {
		d.changes, d.server = d.registry.Changes(), nil
	}
	key := method + " " + u.RequestURI() + " " + h.Get("Accept")
	if d.server != nil && d.cached[key] != nil {
		return d.cached[key], nil
	}
	s, err := d.request(method, u, h)
	if err == nil {
		d.cached[key] = s
	}
	return s, err
}

func (d *documents) request(method string, u *url.URL, h http.Header) (*sink, error) {
	if d.server == nil {
		d.kernel = sim.NewKernel(sim.Options{Strategy: sim.NewFIFO()})
		d.client.id = d.kernel.Register(&d.client)
		d.cached = map[string]*sink{}
		var err error
		d.server, err = rest.New(rest.Options{Cluster: fakeapiserver.NewCluster(d.kernel, fakeapiserver.ClusterOptions{}), Types: d.registry})
		if err != nil {
			return nil, err
		}
	}
	s := &sink{}
	d.client.do = func() {
		d.server.Serve(&rest.Request{Method: method, URL: u, Header: h, Client: "documents"}, s)
	}
	d.kernel.Offer(d.client.id, kindBody, 0)
	for !s.done && d.kernel.Step() {
	}
	if err := d.kernel.Err(); err != nil {
		return nil, err
	}
	return s, s.err
}

// requester makes requests in a step of the kernel.
type requester struct {
	id sim.ActorID
	do func()
}

// Name implements sim.Actor.
func (*requester) Name() string { return "requester" }

// Apply implements sim.Actor.
func (a *requester) Apply(sim.Choice) { a.do() }
