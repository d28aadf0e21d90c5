package rest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/transport"
)

// The router of built-in resources refuses media types that a route does not have, before a handler negotiates; its messages are its own.
func TestRouteMedia(t *testing.T) {
	served := newServed(t, 1)
	h := &transport.Handler{Driver: served.pump, API: served.api}
	const one = "application/json, application/yaml, application/vnd.kubernetes.protobuf"
	const pod = "/api/v1/namespaces/default/pods/x"
	for _, c := range []struct {
		method, path, accept, contentType string
		code                              int
		want                              string
	}{
		{"GET", pod, "text/html", "", http.StatusNotAcceptable, "406: Not Acceptable\\n\\nAvailable representations: " + one + `"`},
		{"GET", pod, "application/*", "", http.StatusNotAcceptable, "406: Not Acceptable"},
		{"GET", pod, "text/html, */*;q=0.1", "", http.StatusNotFound, "not found"},
		{"GET", pod, "application/json;as=Nope;v=v1;g=meta.k8s.io", "", http.StatusNotAcceptable, "only the following media types are accepted: " + one},
		{"GET", "/api/v1/pods", "text/html", "", http.StatusNotAcceptable, one + ", application/json;stream=watch, application/vnd.kubernetes.protobuf;stream=watch"},
		{"GET", pod + "/log", "text/html", "", http.StatusNotAcceptable, "representations: text/plain, " + one},
		{"GET", pod + "/log", "text/plain", "", http.StatusNotAcceptable, "only the following media types are accepted"},
		{"GET", pod + "/exec", "text/html", "", http.StatusNotFound, "not found"},
		{"PATCH", pod, "", "application/json", http.StatusUnsupportedMediaType, "415: Unsupported Media Type"},
		{"PATCH", pod, "", "", http.StatusUnsupportedMediaType, "415: Unsupported Media Type"},
		{"PATCH", pod, "", "text/plain, application/merge-patch+json", http.StatusUnsupportedMediaType, "the body of the request was in an unknown format"},
		{"PATCH", pod, "", "application/merge-patch+json; charset=utf-8", http.StatusNotFound, "not found"},
		{"GET", "/apis/apps/v1", "text/html", "", http.StatusNotAcceptable, "406: Not Acceptable"},
		{"GET", "/apis/apps/v1", "", "text/plain", http.StatusUnsupportedMediaType, "415: Unsupported Media Type"},
		{"DELETE", "/apis/apps/v1", "", "", http.StatusMethodNotAllowed, "MethodNotAllowed"},
		{"GET", "/apis", "text/html", "", http.StatusNotAcceptable, "only the following media types are accepted: " + one},
		{"GET", "/absent", "", "", http.StatusNotFound, "404 page not found\n"},
		{"GET", "/healthz/poststarthook/rbac/bootstrap-roles", "", "", http.StatusOK, "ok"},
	} {
		r := httptest.NewRequest(c.method, c.path, strings.NewReader("{}"))
		if c.accept != "" {
			r.Header.Set("Accept", c.accept)
		}
		if c.contentType != "" {
			r.Header.Set("Content-Type", c.contentType)
		}
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, r)
		if rec.Code != c.code || !strings.Contains(rec.Body.String(), c.want) {
			t.Errorf("%s %s, Accept %q, Content-Type %q: %d %s; want %d with %q", c.method, c.path, c.accept, c.contentType, rec.Code, rec.Body, c.code, c.want)
		}
	}
}
