package clientgo

import (
	"fmt"
	"io"
	"net/http"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/klog/v2"

	"github.com/informersim/informersim/subjects"
)

// stream is the body of an open watch, from which a client's decoder reads. The watch itself is apimachinery's StreamWatcher, as in
// a REST client.
type stream struct {
	t      *transport
	req    *request
	frames chan frame
	closed chan struct{} // closed by Close, which StreamWatcher calls once
}

type frame struct {
	event watch.Event
	err   error // the end of the stream
}

func newStream(t *transport, r *request) *stream {
	// A step delivers one frame, and client-go reads it within the step.
	return &stream{t: t, req: r, frames: make(chan frame, 1), closed: make(chan struct{})}
}

func (s *stream) watch() watch.Interface {
	return watch.NewStreamWatcherWithLogger(klog.Background(), s,
		apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding"))
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
	s.t.cancel(s.req)
}

// send hands a frame over.
func (s *stream) send(f frame) {
	s.t.i.s.begin(s.t.client.Name())
	select {
	case s.frames <- f:
		s.t.b.touch()
	default:
		s.t.i.Kernel.Fail(&subjects.Failure{Kind: subjects.Hung, What: fmt.Sprintf("informer %s has a watch open but does not read it", s.t.i.Spec.Name)})
	}
}
