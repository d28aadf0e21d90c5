package rest

import (
	"net/http"
	"net/url"

	"k8s.io/apiserver/pkg/authentication/user"

	"github.com/informersim/informersim/fakeapiserver/render"
)

// Request is an HTTP request whose body has been read.
type Request struct {
	Method string
	URL    *url.URL
	Header http.Header
	Body   []byte
	// Client names the caller; each name gets a connection to the cluster.
	Client string
	// User is whom the request is from, nil if nobody asked.
	User user.Info
	// OnPanic is called inside the step when serving the request panics; the answer is then a 500. If nil, the panic propagates.
	OnPanic func(value any, stack []byte)
	// Sending is called inside the step with what sends a write to the cluster, which it is to call: while it is served or, if webhooks are asked first, later. It may be nil.
	Sending func(do func())
}

// Body is a response body in shared pieces: they must not be modified.
type Body = render.Body

// Sink takes the answer to a request. It is called inside the kernel's steps, so it may not block.
type Sink interface {
	// Answer sends a whole response.
	Answer(code int, header http.Header, body Body)
	// Open begins a streamed response, Frame adds to it, and Close ends it: cleanly if the error is nil, otherwise by breaking the
	// connection at that point. The bytes of a frame are shared: they must not be modified.
	Open(code int, header http.Header)
	Frame(b []byte)
	Close(err error)
	// Fail breaks the connection before any response.
	Fail(err error)
}
