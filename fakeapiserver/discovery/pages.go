package discovery

import (
	"bytes"
	"net/http"
	"net/url"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/informersim/informersim/fakeapiserver/render"
)

// Page is what a server says of itself besides its API: keys, metrics.
type Page struct {
	Path string
	// MediaType, if set, makes it a document of the router: for GET, with or without a slash at its end, and for clients that accept the type. Without
	// it the page is for any method.
	MediaType string
	Handler   http.Handler
}

// page answers a request for a Page; ok is false if it is for none.
func (s *Server) page(q Request) (answer Answer, ok bool) {
	for i := range s.pages {
		p := &s.pages[i]
		below, under := strings.CutPrefix(q.Path, p.Path)
		switch {
		case q.Path == p.Path, p.MediaType != "" && under && below == "/":
			if p.MediaType != "" {
				if refusal, refused := refuse(q, p.MediaType); refused {
					return refusal, true
				}
			}
			return p.answer(q), true
		case p.MediaType != "" && under && below[0] == '/':
			return Answer{Answer: q.Ask.Error(apierrors.NewGenericServerResponse(http.StatusNotFound, q.Method, schema.GroupResource{}, "", "", 0, false))}, true
		}
	}
	return Answer{}, false
}

// answer lets the page's handler answer.
func (p *Page) answer(q Request) Answer {
	w := &memory{header: http.Header{}, code: http.StatusOK}
	r := &http.Request{Method: http.MethodGet, URL: &url.URL{Path: p.Path}, Header: http.Header{}} // whatever the method
	if q.Ask.Accept != "" {
		r.Header.Set("Accept", q.Ask.Accept)
	}
	p.Handler.ServeHTTP(w, r)
	a := Answer{Answer: render.Answer{Code: w.code, ContentType: w.header.Get("Content-Type"), Body: w.body.Bytes()}}
	for _, name := range sortedKeys(w.header) {
		if name != "Content-Type" && name != "Content-Length" {
			a.Headers = append(a.Headers, [2]string{name, w.header.Get(name)})
		}
	}
	return a
}

// memory keeps what a handler writes.
type memory struct {
	header http.Header
	code   int
	body   bytes.Buffer
}

// Header implements http.ResponseWriter.
func (m *memory) Header() http.Header { return m.header }

// WriteHeader implements http.ResponseWriter.
func (m *memory) WriteHeader(code int) { m.code = code }

// Write implements http.ResponseWriter.
func (m *memory) Write(data []byte) (int, error) { return m.body.Write(data) }
