package simtest

import (
	"bytes"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/rest"
	"github.com/informersim/informersim/fakeapiserver/types"
	"github.com/informersim/informersim/sim"
)

// documents answers requests that are not for a resource: discovery, OpenAPI, the version. The answers are the same in every
// state of the world and are given at once, outside of the kernel's steps: clients ask for them while they hold locks (a
// RESTMapper's, a cache's), and a goroutine that waits for a lock keeps a bubble from becoming quiescent.
type documents struct {
	registry *types.Registry

	mu     sync.Mutex
	kernel *sim.Kernel // its own, with nothing but a server
	server *rest.Server
	client requester
	cached map[string]*sink
}

// isDocument reports whether a path is not a resource's.
func isDocument(path string) bool {
	parts := strings.Split(strings.Trim(path, "/"), "/")
	switch parts[0] {
	case "api":
		return len(parts) < 3
	case "apis":
		return len(parts) < 4
	}
	return true
}

// get answers a request.
func (d *documents) get(r *http.Request) (*http.Response, error) {
	key := r.Method + " " + r.URL.RequestURI() + " " + r.Header.Get("Accept")
	d.mu.Lock()
	defer d.mu.Unlock()
	s := d.cached[key]
	if s == nil {
		var err error
		if s, err = d.request(r); err != nil {
			return nil, err
		}
		d.cached[key] = s
	}
	return &http.Response{
		Status: fmt.Sprintf("%d %s", s.code, http.StatusText(s.code)), StatusCode: s.code, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Header: s.header.Clone(), ContentLength: int64(len(s.body)), Body: io.NopCloser(bytes.NewReader(s.body)), Request: r,
	}, nil
}

func (d *documents) request(r *http.Request) (*sink, error) {
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
		d.server.Serve(&rest.Request{Method: r.Method, URL: r.URL, Header: r.Header, Client: "documents"}, s)
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
