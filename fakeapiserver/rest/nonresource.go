package rest

import (
	"net/http"

	"github.com/informersim/informersim/fakeapiserver/discovery"
)

// writable is the health check of /readyz that fails while writes are refused.
const writable = "etcd-readiness"

// failedChecks returns the health checks that fail now, with their reasons.
func (s *Server) failedChecks() map[string]string {
	if s.ready != nil {
		if err := s.ready(); err != nil {
			return map[string]string{writable: err.Error()}
		}
	}
	return nil
}

// nonResource answers paths about the server itself: discovery, OpenAPI, version, health. They go through the connection like any
// other request, and meet its faults. A document that would hold others up is made first.
func (c *call) nonResource() (cancel func()) {
	s := c.server
	q := discovery.Request{
		Method: c.request.Method, Path: c.request.URL.Path, Ask: c.encoder.ask, IfNoneMatch: c.request.Header.Get("If-None-Match"),
		ContentType: c.request.Header.Get("Content-Type"),
	}
	if s.run == nil || !s.docs.Slow(q) {
		return c.answerDocument(q)
	}
	fork := s.docs.Fork()
	return c.later(func() {
		defer func() { _ = recover() }() // the step meets the panic, too, and answers it
		fork.Serve(q)
	}, func() (cancel func()) {
		s.docs.Adopt(fork)
		return c.answerDocument(q)
	})
}

func (c *call) answerDocument(q discovery.Request) (cancel func()) {
	return c.atReplica(func() {
		if c.server.lacksVersion(q.Path) {
			c.fail(noRoute(http.StatusNotFound))
			return
		}
		q.Failed, q.Registered = c.server.failedChecks(), c.server.registered()
		answer, ok := c.server.docs.Serve(q)
		if !ok {
			c.notFoundPage()
			return
		}
		h := header(answer.ContentType)
		if answer.ContentType == "" {
			h = http.Header{}
		}
		if answer.ETag != "" {
			h.Set("Etag", answer.ETag)
		}
		for _, more := range answer.Headers {
			h.Set(more[0], more[1])
		}
		c.respond(answer.Code, h, answer.Body)
	})
}
