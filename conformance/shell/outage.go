package shell

import (
	"io"
	"net"
	"net/http"
	"os"
	"strings"
	"sync"
	"syscall"
)

// outage is a client's transport, which can be cut: connections are refused, and watches end.
type outage struct {
	next http.RoundTripper

	mu      sync.Mutex
	cut     bool
	bodies  map[*cutBody]bool
	asked   []string // requests since the last take: "list", "watch"
	expired int      // answers and frames with a resourceVersion that is too old
}

// errCut is the error of a dialler if nothing listens. An informer then retries its watch from the last revision.
var errCut = &net.OpError{Op: "dial", Net: "tcp", Err: os.NewSyscallError("connect", syscall.ECONNREFUSED)}

// RoundTrip implements http.RoundTripper.
func (o *outage) RoundTrip(r *http.Request) (*http.Response, error) {
	what := "list"
	if r.URL.Query().Has("watch") {
		what = "watch"
	}
	o.mu.Lock()
	cut := o.cut
	if !cut {
		o.asked = append(o.asked, what)
	}
	o.mu.Unlock()
	if cut {
		return nil, errCut
	}
	resp, err := o.next.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	if resp.StatusCode == http.StatusGone {
		o.expired++
	}
	b := &cutBody{ReadCloser: resp.Body, outage: o}
	o.bodies[b] = true
	resp.Body = b
	return resp, nil
}

// set cuts or restores the connection.
func (o *outage) set(cut bool) {
	o.mu.Lock()
	bodies := o.bodies
	o.cut = cut
	if cut {
		o.bodies = map[*cutBody]bool{}
	}
	o.mu.Unlock()
	if cut {
		for b := range bodies { // order: each is closed
			b.ReadCloser.Close()
		}
	}
}

// take returns the requests since the last take, and how many were answered as too old.
func (o *outage) take() (asked []string, expired int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	asked, expired = o.asked, o.expired
	o.asked, o.expired = nil, 0
	return asked, expired
}

// cutBody is a response body that ends when the connection is cut.
type cutBody struct {
	io.ReadCloser
	outage *outage
}

// Read implements io.Reader.
func (b *cutBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if strings.Contains(string(p[:n]), `"reason":"Expired"`) {
		b.outage.mu.Lock()
		b.outage.expired++
		b.outage.mu.Unlock()
	}
	return n, err
}

// Close implements io.Closer.
func (b *cutBody) Close() error {
	b.outage.mu.Lock()
	delete(b.outage.bodies, b)
	b.outage.mu.Unlock()
	return b.ReadCloser.Close()
}
