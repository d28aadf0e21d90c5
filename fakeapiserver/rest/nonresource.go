package rest

import (
	"net/http"

	"github.com/informersim/informersim/fakeapiserver/discovery"
)

// nonResource answers paths about the server itself: discovery, OpenAPI, version, health. They go through the connection like any
// other request, and meet its faults.
func (c *call) nonResource() (cancel func()) {
	return c.atReplica(func() {
		answer, ok := c.server.docs.Serve(discovery.Request{
			Method: c.request.Method, Path: c.request.URL.Path, Ask: c.encoder.ask, IfNoneMatch: c.request.Header.Get("If-None-Match"),
		})
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
