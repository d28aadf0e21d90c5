package transport

import "github.com/informersim/informersim/fakeapiserver/rest"

// Request is an HTTP request whose body has been read.
type Request = rest.Request

// Body is the body of a response, in pieces.
type Body = rest.Body

// Sink takes the answer to a request.
type Sink = rest.Sink

// API answers requests. Serve is called inside a step of the kernel, and returns the function to call, also inside a step, when the
// client has gone away.
type API interface {
	Serve(r *Request, s Sink) (cancel func())
}

// Driver runs a function inside a step of the kernel. f may run after Do has returned.
type Driver interface {
	Do(f func())
}
