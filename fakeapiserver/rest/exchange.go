package rest

import (
	"net/http"
	"net/url"

	"github.com/informersim/informersim/fakeapiserver/render"
)

// Request is an HTTP request whose body has been read.
type Request struct {
	Method string
	URL    *url.URL
	Header http.Header
	Body   []byte
	// Client names who asks: a connection of the cluster is made for it.
	Client string
	// OnPanic is told, inside the step, that serving the request panicked; the answer is a 500. Without it the panic goes on.
	OnPanic func(value any, stack []byte)
}

// Body is the body of a response, in pieces that are shared: nobody may write to them.
type Body = render.Body

// Sink takes the answer to a request. It is called inside the kernel's steps, so it may not wait.
type Sink interface {
	// Answer is a whole response.
	Answer(code int, header http.Header, body Body)
	// Open begins a streamed response; Frame adds to it as often as there is something, Close ends it. A nil error ends it
	// cleanly, any other breaks the connection at that point. The bytes of a frame go to others too: nobody may write to them.
	Open(code int, header http.Header)
	Frame(b []byte)
	Close(err error)
	// Fail breaks the connection before there was a response.
	Fail(err error)
}
