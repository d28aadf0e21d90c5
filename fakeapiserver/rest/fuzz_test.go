package rest_test

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"log"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
	"github.com/informersim/informersim/fakeapiserver/transport"
)

// FuzzHandler throws requests at the Handler: lines of "METHOD PATH CONTENT-TYPE ACCEPT BODY", played in order against one
// server. None may make it panic or hang, and the Store's history must stay consistent.
//
//	go test ./fakeapiserver/rest -run '^$' -fuzz FuzzHandler -fuzztime 30s -fuzzminimizetime 10x
func FuzzHandler(f *testing.F) {
	const widget = `{"apiVersion":"example.dev/v1","kind":"Widget","metadata":{"name":"a","finalizers":["example.dev/x"]},"spec":{"size":1}}`
	const configMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"generateName":"m-"},"data":{"k":"v"}}`
	for _, seed := range []string{
		"GET /api/v1/namespaces/default/configmaps?limit=1&continue=x",
		"POST /api/v1/namespaces/default/configmaps application/json - " + configMap,
		"POST /apis/example.dev/v1/namespaces/default/widgets application/json - " + widget + "\n" +
			"PATCH /apis/example.dev/v1/namespaces/default/widgets/a application/json-patch+json - [{\"op\":\"remove\",\"path\":\"/metadata/finalizers/0\"}]\n" +
			"DELETE /apis/example.dev/v1/namespaces/default/widgets/a?propagationPolicy=Foreground\n" +
			"GET /apis/example.dev/v1/widgets?watch=1&resourceVersion=1000&timeoutSeconds=-1",
		"PATCH /apis/example.dev/v1/namespaces/default/widgets/b?fieldManager=f&force=true application/apply-patch+yaml - " + widget,
		"PATCH /api/v1/namespaces/default/configmaps/a application/strategic-merge-patch+json - {\"data\":{\"$patch\":\"replace\"}}",
		"PUT /apis/example.dev/v1/namespaces/default/widgets/a/status application/yaml application/json;as=Table;v=v1;g=meta.k8s.io {a: [}",
		"DELETE /apis/example.dev/v1/namespaces/default/widgets?labelSelector=a%20in%20(&dryRun=All",
		"GET /apis/example.dev/v1/widgets?sendInitialEvents=true&resourceVersionMatch=NotOlderThan&watch=true&allowWatchBookmarks=true&timeoutSeconds=1",
		"POST /api/v1/namespaces application/vnd.kubernetes.protobuf application/vnd.kubernetes.protobuf k8s\x00\x0a\x00",
		"GET /openapi/v3/apis/example.dev/v1", "GET /version", "BREW /api//v1/%2e%2e/pods", "GET /",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, script string) {
		s := newVirtual(t)
		var panics bytes.Buffer
		h := &transport.Handler{Driver: s, API: s.api, Log: newLogger(&panics)}
		lines := strings.SplitN(script, "\n", 9)
		for _, line := range lines[:min(len(lines), 8)] {
			if r, ok := parseRequest(line); ok {
				serve(t, h, r, line)
			}
		}
		if panics.Len() > 0 {
			t.Fatalf("the handler panicked:\n%s", panics.String())
		}
		s.look(func() { checkStore(t, s.cluster) })
	})
}

// parseRequest reads a line; ok is false if no client could send it.
func parseRequest(line string) (*http.Request, bool) {
	words := strings.SplitN(line, " ", 5)
	for len(words) < 5 {
		words = append(words, "")
	}
	head := words[0] + " " + words[1] + " HTTP/1.1\r\nHost: sim\r\n\r\n"
	r, err := http.ReadRequest(bufio.NewReader(strings.NewReader(head)))
	if err != nil || r.URL.Path == "" {
		return nil, false
	}
	for i, name := range map[int]string{2: "Content-Type", 3: "Accept"} {
		if v := words[i]; v != "" && v != "-" {
			r.Header.Set(name, v)
		}
	}
	r.Body = io.NopCloser(strings.NewReader(words[4]))
	return r, true
}

// serve plays one request.
func serve(t *testing.T, h http.Handler, r *http.Request, line string) {
	done := make(chan struct{})
	go func() {
		defer close(done)
		defer func() {
			if p := recover(); p != nil && p != http.ErrAbortHandler {
				t.Errorf("%q: %v", line, p)
			}
		}()
		h.ServeHTTP(httptest.NewRecorder(), r)
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatalf("%q hangs", line)
	}
}

// checkStore checks the invariants of a Store: one revision per write, in order; every object carries the revision of its last
// write; each write replaces the version before it; and replaying the history gives the state.
func checkStore(t *testing.T, c *fakeapiserver.Cluster) {
	s := c.Store()
	seen := map[int64]string{}
	for id := store.ResourceID(0); s.Resource(id) != nil; id++ {
		state := map[string]runtime.Object{}
		last := s.Compacted()
		err := s.Changes(id, s.Compacted(), func(w store.Committed) bool {
			m, ok := w.Object.(metav1.Object)
			if !ok || m.GetResourceVersion() != fmt.Sprint(w.Revision) {
				t.Errorf("%s at %d has resourceVersion %q", w.Display, w.Revision, m.GetResourceVersion())
			}
			if w.Revision <= last || w.Revision > s.Revision() || seen[w.Revision] != "" {
				t.Errorf("%s has revision %d after %d; that revision belongs to %q, the store is at %d", w.Display, w.Revision, last, seen[w.Revision], s.Revision())
			}
			if w.Old != state[w.Key] {
				t.Errorf("%s at %d does not replace the version before it", w.Display, w.Revision)
			}
			last, seen[w.Revision] = w.Revision, w.Display
			state[w.Key] = w.Object
			if w.Deleted {
				delete(state, w.Key)
			}
			return true
		})
		if err != nil {
			t.Error(err)
		}
		n := 0
		if err := s.Walk(id, s.Revision(), "", func(key string, obj runtime.Object) bool {
			n++
			if state[key] != obj {
				t.Errorf("%s differs from its history", key)
			}
			return true
		}); err != nil {
			t.Error(err)
		}
		if n != len(state) {
			t.Errorf("resource %d has %d objects, want %d by its history", id, n, len(state))
		}
	}
	if got, want := int64(len(seen)), s.Revision()-s.Compacted(); got != want {
		t.Errorf("%d writes, want %d, one per revision", got, want)
	}
}

func newLogger(to io.Writer) *log.Logger { return log.New(to, "", 0) }
