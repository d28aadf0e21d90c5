// Package exchange sends the requests of clients in a bubble to the engine, and takes in its answers: the http.RoundTripper of simtest's clients, and of the
// controllers that run in a process beside the engine.
package exchange
