package persistence

import (
	"net/http"

	"github.com/informersim/informersim/fakeapiserver/rest"
)

// API answers requests inside steps of a kernel.
type API interface {
	Serve(r *rest.Request, s rest.Sink) (cancel func())
}

// Durable is an API that saves everything committed before it sends anything. If saving fails, it breaks the connection instead.
type Durable struct {
	API      API
	Recorder *Recorder
}

// Serve implements transport.API.
func (d *Durable) Serve(r *rest.Request, s rest.Sink) (cancel func()) {
	return d.API.Serve(r, &durableSink{s, d.Recorder})
}

// durableSink saves before it sends.
type durableSink struct {
	rest.Sink
	recorder *Recorder
}

// Answer implements rest.Sink.
func (s *durableSink) Answer(code int, header http.Header, body rest.Body) {
	if err := s.recorder.Sync(); err != nil {
		s.Fail(err)
		return
	}
	s.Sink.Answer(code, header, body)
}

// Open implements rest.Sink.
func (s *durableSink) Open(code int, header http.Header) {
	if err := s.recorder.Sync(); err != nil {
		s.Fail(err)
		return
	}
	s.Sink.Open(code, header)
}

// Frame implements rest.Sink.
func (s *durableSink) Frame(b []byte) {
	if err := s.recorder.Sync(); err != nil {
		s.Close(err)
		return
	}
	s.Sink.Frame(b)
}
