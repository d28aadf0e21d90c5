// Package transport carries HTTP requests to a fake apiserver and its answers back: an http.Handler for sockets and an
// http.RoundTripper for clients in the same process, over one pump that steps a kernel in real time, or over any other
// driver of a kernel (a simulation steps it by its own strategy).
//
// It owns everything on the server's side that has goroutines and real time: reading bodies, streaming watches, limits and handler
// panics. It may not decide what an answer is: that is up to the [API], inside the kernel's steps.
package transport
