package rest

import (
	"net/http"
	"strings"

	"github.com/informersim/informersim/fakeapiserver/types"
)

// Aggregate lets an aggregation layer say which groups there are from now on. registered returns its APIServices in the order of discovery; it
// is called inside steps.
func (s *Server) Aggregate(registered func() []types.Registration) { s.registrations = registered }

// Effect carries out a write that the server sends to itself, inside a step. It meets no faults.
func (s *Server) Effect(e types.Effect) error { return s.effect(&e) }

// Served returns the resources that are served now.
func (s *Server) Served() []*types.Resource { return s.types.All() }

// registered returns the APIServices, nil if there is no aggregation layer.
func (s *Server) registered() []types.Registration {
	if s.registrations == nil {
		return nil
	}
	return s.registrations()
}

// remote reports whether another server is to answer a path.
func (s *Server) remote(path string) bool {
	if s.registrations == nil || !strings.HasPrefix(path, "/api") {
		return false
	}
	all := s.registrations()
	for i := range all {
		if !all[i].Remote {
			continue
		}
		if rest, ok := strings.CutPrefix(path, all[i].Path()); ok && (rest == "" || rest[0] == '/') {
			return true
		}
	}
	return false
}

// unavailable answers such a request as an aggregator does whose server cannot be reached.
func (c *call) unavailable() {
	c.respond(http.StatusServiceUnavailable, page(), []byte("service unavailable\n"))
}
