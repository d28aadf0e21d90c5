package main

import (
	"net"
	"net/http"

	"k8s.io/apiserver/pkg/server/statusz"
	"k8s.io/apiserver/pkg/util/compatibility"
	"k8s.io/component-base/metrics/legacyregistry"

	"github.com/informersim/informersim/fakeapiserver/builtin"
	"github.com/informersim/informersim/fakeapiserver/discovery"
	"github.com/informersim/informersim/fakeapiserver/types"
)

// pages are what a server that is not bare says of itself: who issues its tokens, the metrics of the Kubernetes code that runs in it, its status.
func (f server) pages(addr net.Addr) ([]discovery.Page, error) {
	if f.Bare {
		return nil, nil
	}
	issuer, err := builtin.NewIssuer(addr.String())
	if err != nil {
		return nil, err
	}
	all := pageList{
		{Path: builtin.IssuerConfigurationPath, MediaType: types.JSON, Handler: http.HandlerFunc(issuer.Configuration)},
		{Path: builtin.IssuerKeysPath, MediaType: builtin.IssuerKeysType, Handler: http.HandlerFunc(issuer.Keys)},
		{Path: "/metrics", Handler: legacyregistry.Handler()},
	}
	listed := []string{"/healthz", "/livez", "/metrics", "/readyz", statusz.DefaultStatuszPath, "/version"}
	statusz.Install(&all, "apiserver", statusz.NewRegistry(compatibility.DefaultBuildEffectiveVersion(), statusz.WithListedPaths(listed)))
	return all, nil
}

// pageList is a mux that only remembers its handlers.
type pageList []discovery.Page

// Handle adds a handler.
func (l *pageList) Handle(path string, h http.Handler) {
	*l = append(*l, discovery.Page{Path: path, Handler: h})
}
