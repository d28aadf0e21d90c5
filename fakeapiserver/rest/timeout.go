package rest

import (
	"net/http"
	"time"
)

// timedOut is all that a real server says of a request that has taken too long; it is not even typed.
const timedOut = `{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}` + "\n"

// limitTo has the request answered with a 504 if it has no answer after d. What it was to write may be written all the same, now
// or never, which is what makes the answer of use.
func (c *call) limitTo(d time.Duration) {
	sink := &limited{Sink: c.sink}
	sink.timer = c.server.cluster.Kernel().Clock().AfterFunc(d, func() {
		c.cancel()
		sink.Sink.Answer(http.StatusGatewayTimeout, header("text/plain; charset=utf-8"), Body{Head: []byte(timedOut)})
	})
	c.sink = sink
}

// limited is a Sink whose time ends with the answer.
type limited struct {
	Sink
	timer interface{ Stop() bool }
}

// Answer implements Sink.
func (l *limited) Answer(code int, h http.Header, body Body) {
	l.timer.Stop()
	l.Sink.Answer(code, h, body)
}

// Fail implements Sink.
func (l *limited) Fail(err error) {
	l.timer.Stop()
	l.Sink.Fail(err)
}
