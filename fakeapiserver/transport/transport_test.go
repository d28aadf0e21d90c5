package transport_test

import (
	"bufio"
	"compress/gzip"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/informersim/informersim/fakeapiserver/transport"
)

// direct runs functions at once, one at a time.
type direct struct{ mu sync.Mutex }

func (d *direct) Do(f func()) {
	d.mu.Lock()
	defer d.mu.Unlock()
	f()
}

// apiFunc is an API made of a function.
type apiFunc func(r *transport.Request, s transport.Sink) func()

func (f apiFunc) Serve(r *transport.Request, s transport.Sink) func() { return f(r, s) }

// serve starts a server for an API.
func serve(t *testing.T, api apiFunc) string {
	t.Helper()
	server := httptest.NewServer(&transport.Handler{Driver: &direct{}, API: api})
	t.Cleanup(server.Close)
	return server.URL
}

// get makes a request without the client's own compression.
func get(t *testing.T, url string, header http.Header) *http.Response {
	t.Helper()
	r, err := http.NewRequest(http.MethodGet, url, nil)
	if err != nil {
		t.Fatal(err)
	}
	r.Header = header
	client := &http.Client{Transport: &http.Transport{DisableCompression: true, DisableKeepAlives: true}}
	resp, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { resp.Body.Close() })
	return resp
}

func TestCommonHeaders(t *testing.T) {
	url := serve(t, func(r *transport.Request, s transport.Sink) func() {
		h := http.Header{}
		if r.URL.Path == "/kept" {
			h.Set("Cache-Control", "public")
		}
		s.Answer(http.StatusOK, h, transport.Body{Head: []byte("ok")})
		return func() {}
	})
	for path, want := range map[string]string{"/": "no-cache, private", "/kept": "public"} { // order: each request is its own
		resp := get(t, url+path, http.Header{"Audit-Id": {"mine"}})
		if got := resp.Header.Values("Cache-Control"); len(got) != 1 || got[0] != want {
			t.Errorf("%s: Cache-Control %q, want %q", path, got, want)
		}
		if got := resp.Header.Get("Audit-Id"); got != "mine" {
			t.Errorf("%s: the client's Audit-Id came back as %q", path, got)
		}
	}
	first, second := get(t, url, nil).Header.Get("Audit-Id"), get(t, url, nil).Header.Get("Audit-Id")
	if first == "" || first == second {
		t.Errorf("two requests have the Audit-Ids %q and %q", first, second)
	}
}

// Who answers before the Handler does has the headers, and the Handler behind calls the request by the same name.
func TestIdentify(t *testing.T) {
	behind := ""
	h := transport.Identify(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		behind = r.Header.Get("Audit-Id")
		w.WriteHeader(http.StatusUnauthorized)
	}))
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/api", nil))
	if id := w.Header().Get("Audit-Id"); id == "" || id != behind || w.Header().Get("Cache-Control") == "" {
		t.Errorf("the answer has the headers %v; behind, the request is %q", w.Header(), behind)
	}
}

func TestCompression(t *testing.T) {
	large := strings.Repeat("informers ", 20_000)
	url := serve(t, func(r *transport.Request, s transport.Sink) func() {
		body := large
		if r.URL.Path == "/small" {
			body = "small"
		}
		s.Answer(http.StatusOK, http.Header{}, transport.Body{Head: []byte(body)})
		return func() {}
	})
	for _, c := range []struct {
		path, accept string
		compressed   bool
	}{
		{"/large", "gzip", true},
		{"/large", "br, gzip", true},
		{"/large", "identity", false},
		{"/large", "gzip;q=1", false}, // like a real server
		{"/small", "gzip", false},
		{"/openapi/v3/apis/x/v1", "gzip", false},
	} {
		resp := get(t, url+c.path, http.Header{"Accept-Encoding": {c.accept}})
		var body io.Reader = resp.Body
		if got := resp.Header.Get("Content-Encoding") == "gzip"; got != c.compressed {
			t.Errorf("%s, accepting %q: compressed is %t, want %t", c.path, c.accept, got, c.compressed)
		} else if got {
			z, err := gzip.NewReader(resp.Body)
			if err != nil {
				t.Fatal(err)
			}
			body = z
		}
		data, err := io.ReadAll(body)
		if err != nil || string(data) != large && c.path != "/small" {
			t.Errorf("%s, accepting %q: %d bytes, want %d (%v)", c.path, c.accept, len(data), len(large), err)
		}
	}
}

// A client that reads nothing gets everything that waits for it, and then a clean end (I105).
func TestSlowWatcherIsClosed(t *testing.T) {
	frame := []byte(strings.Repeat("x", 1<<20) + "\n")
	sinks, gone := make(chan transport.Sink, 1), make(chan struct{})
	url := serve(t, func(_ *transport.Request, s transport.Sink) func() {
		s.Open(http.StatusOK, http.Header{})
		sinks <- s
		return func() { close(gone) }
	})
	resp := get(t, url, nil)
	sink := <-sinks
	// More than the sockets hold and may wait, then a pause, then one frame too many. On a busy machine it takes a while until the sockets are full.
	for range 40 {
		sink.Frame(frame)
		time.Sleep(time.Millisecond)
	}
	for range 200 {
		sink.Frame([]byte("\n"))
	}
	time.Sleep(2 * time.Second)
	sink.Frame([]byte("too many\n"))
	sink.Frame([]byte("never sent\n"))
	lines := 0
	reader := bufio.NewReader(resp.Body)
	for {
		line, err := reader.ReadString('\n')
		if err == io.EOF && line == "" {
			break
		}
		if err != nil {
			t.Fatalf("after %d lines: %v", lines, err)
		}
		if lines++; lines <= 40 && len(line) != len(frame) || strings.Contains(line, "n") && lines > 40 {
			t.Fatalf("line %d has %d bytes: %.20q", lines, len(line), line)
		}
	}
	if lines < 100 {
		t.Errorf("%d lines were sent; that many may wait", lines)
	}
	<-gone // the API's cancel was called
}

// A reader that takes everything is not slow, even if much is sent at once.
func TestReadersAreNotSlow(t *testing.T) {
	const frames = 50_000
	url := serve(t, func(_ *transport.Request, s transport.Sink) func() {
		s.Open(http.StatusOK, http.Header{})
		for range frames {
			s.Frame([]byte("0123456789abcdef\n"))
		}
		s.Close(nil)
		return func() {}
	})
	data, err := io.ReadAll(get(t, url, nil).Body)
	if err != nil || len(data) != frames*17 {
		t.Errorf("%d bytes, want %d (%v)", len(data), frames*17, err)
	}
}

// A panic is a 500 for its request, and a line with the stack in the log; the next request is served.
func TestPanicIsAnswered(t *testing.T) {
	var text strings.Builder
	server := httptest.NewServer(&transport.Handler{Driver: &direct{}, Log: log.New(&text, "", 0), API: apiFunc(func(r *transport.Request, s transport.Sink) func() {
		if r.URL.Path == "/panic" {
			panic("the roof is on fire")
		}
		s.Answer(http.StatusOK, http.Header{}, transport.Body{})
		return nil
	})})
	defer server.Close()
	resp := get(t, server.URL+"/panic", nil)
	body, err := io.ReadAll(resp.Body)
	if err != nil || resp.StatusCode != http.StatusInternalServerError || !strings.Contains(string(body), "This request caused apiserver to panic") {
		t.Errorf("%d %s, %v", resp.StatusCode, body, err)
	}
	if got := text.String(); !strings.HasPrefix(got, "panic while serving GET /panic: the roof is on fire\n") || !strings.Contains(got, "transport_test.go") {
		t.Errorf("the log has %q", got)
	}
	if resp := get(t, server.URL+"/", nil); resp.StatusCode != http.StatusOK {
		t.Errorf("after a panic: %s", resp.Status)
	}
}
