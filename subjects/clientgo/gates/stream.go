package gates

import (
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// stream is the body of an open watch, from which a client's decoder reads. The watch itself is apimachinery's StreamWatcher, as in
// a REST client.
type stream struct {
	g      *Gates
	req    *request
	frames chan frame
	closed chan struct{} // closed by Close, which StreamWatcher calls once
}

type frame struct {
	event watch.Event
	err   error // the end of the stream
}

func newStream(g *Gates, r *request) *stream {
	// A step delivers one frame, and client-go reads it within the step.
	return &stream{g: g, req: r, frames: make(chan frame, 1), closed: make(chan struct{})}
}

func (s *stream) watch() watch.Interface {
	return newStreamWatcher(s, apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding"))
}

// Decode implements watch.Decoder.
func (s *stream) Decode() (watch.EventType, runtime.Object, error) {
	select {
	case f := <-s.frames:
		return f.event.Type, f.event.Object, f.err
	case <-s.closed:
		return "", nil, io.EOF
	}
}

// Close implements watch.Decoder.
func (s *stream) Close() {
	close(s.closed)
	s.g.cancel(s.req)
}
