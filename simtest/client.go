package simtest

import (
	"net/http"

	"github.com/informersim/informersim/simtest/internal/exchange"
	"github.com/informersim/informersim/simtest/internal/wire"
)

// tripper is the http.RoundTripper of one client.
type tripper struct {
	w      *world
	client string
	life   *life
}

// RoundTrip implements http.RoundTripper.
func (t *tripper) RoundTrip(hr *http.Request) (*http.Response, error) {
	if t.w.checks.under.Load() {
		return nil, errInCheck
	}
	if t.life.cut.Load() {
		return t.w.cutOff.answer(hr)
	}
	if err := t.life.err(); err != nil {
		return nil, err
	}
	if exchange.IsDocument(hr.URL.Path) {
		return t.document(hr)
	}
	if keepsEventLock(hr) {
		return refuseSeries(hr)
	}
	return t.w.exchanges.RoundTrip(hr, exchange.Sender{Client: t.client, Life: t.life.ctx, Number: t.life.number, By: t.w.begun.sender(hr.Context())})
}

// document is the answer to a request for discovery.
type document struct {
	code   int
	header http.Header
	body   []byte
}

func (t *tripper) document(hr *http.Request) (*http.Response, error) {
	key := hr.Method + " " + hr.URL.RequestURI() + " " + hr.Header.Get("Accept")
	known, ok := t.w.r.documents.Load(key)
	if !ok {
		m, err := t.w.query(wire.New(wire.Query).Byte(wire.QueryDocument).Text(hr.Method).Text(hr.URL.String()).Header(hr.Header))
		if err != nil {
			return nil, err
		}
		known = &document{code: int(m.Num()), header: m.Header(), body: m.Bytes()}
		if m.Err() != nil {
			return nil, m.Err()
		}
		if !t.w.r.o.ServeCRDs { // with them, what is served changes during a run
			t.w.r.documents.Store(key, known)
		}
	}
	d := known.(*document)
	return exchange.Whole(hr, d.code, d.header.Clone(), d.body), nil
}
