package rest

import (
	"net/http"
	"time"
)

// timeoutBody is a real server's body for a request that took too long. It has no kind.
const timeoutBody = `{"metadata":{},"status":"Failure","message":"Timeout: request did not complete within the allotted timeout","reason":"Timeout","details":{},"code":504}` + "\n"

// limitTo answers the request with a 504 if there is no answer after d. Its write may still happen: the client cannot know.
func (c *call) limitTo(d time.Duration) {
	sink := &limitedSink{Sink: c.sink}
	sink.timer = c.server.cluster.Kernel().Clock().AfterFunc(d, func() {
		sink.over = true
		c.cancel()
		sink.Sink.Answer(http.StatusGatewayTimeout, header("text/plain; charset=utf-8"), Body{Head: []byte(timeoutBody)})
	})
	c.sink = sink
}

// limitedSink is a Sink that stops the timer once the request is answered, and drops an answer that comes after the timeout's: of a write,
// say, that waited for a webhook.
type limitedSink struct {
	Sink
	timer interface{ Stop() bool }
	over  bool
}

// Answer implements Sink.
func (l *limitedSink) Answer(code int, h http.Header, body Body) {
	if l.timer.Stop(); !l.over {
		l.Sink.Answer(code, h, body)
	}
}

// Fail implements Sink.
func (l *limitedSink) Fail(err error) {
	if l.timer.Stop(); !l.over {
		l.Sink.Fail(err)
	}
}
