package rest_test

import (
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/transport"
)

// Paths and methods that built-in resources lack are answered before anything else is looked at (S41).
func TestS41Routes(t *testing.T) {
	served := newServed(t, 1)
	h := &transport.Handler{Driver: served.pump, API: served.api}
	do := func(method, path string) *httptest.ResponseRecorder {
		rec := httptest.NewRecorder()
		h.ServeHTTP(rec, httptest.NewRequest(method, path, strings.NewReader("{}")))
		return rec
	}
	for _, line := range []string{
		"404 GET /api/v1/foos",
		"404 GET /api/v9/foos",
		"404 GET /apis/apps/v9/foos",
		"404 GET /api/v1/namespaces/default/foos/x",
		"404 GET /api/v1/namespaces/default/pods/x/foo",
		"404 GET /api/v1/namespaces/default/nodes",
		"404 GET /api/v1/pods/x",
		"404 GET /api/v1/watch/pods/x",
		"404 GET /api/v1/watch/foos",
		"404 GET /api/v1/proxy/nodes/n1",
		"404 GET /apis/authorization.k8s.io/v1/selfsubjectaccessreviews/x",
		"404 POST /apis/authorization.k8s.io/v1/localsubjectaccessreviews",
		"404 GET /api/v1/bindings",
		"404 GET /api/v1/namespaces/default/pods/a/status/b",
		"405 GET /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		"405 DELETE /apis/authorization.k8s.io/v1/selfsubjectaccessreviews",
		"405 GET /api/v1/namespaces/default/bindings",
		"405 POST /api/v1/watch/pods",
		"405 PUT /api/v1/namespaces/default/configmaps",
		"405 PATCH /api/v1/namespaces/default/pods",
		"405 POST /api/v1/namespaces/default/configmaps/x",
		"405 POST /api/v1/configmaps",
		"405 DELETE /api/v1/namespaces",
		"405 OPTIONS /api/v1/namespaces/default/configmaps",
		"405 HEAD /api/v1/namespaces",
		"405 GET /api/v1/namespaces/x/finalize",
		"405 POST /api/v1/componentstatuses",
	} {
		code, rest, _ := strings.Cut(line, " ")
		method, path, _ := strings.Cut(rest, " ")
		got := do(method, path)
		want := `"reason":"NotFound","details":{},"code":404}`
		if code == "405" {
			want = `"reason":"MethodNotAllowed","details":{},"code":405}`
		}
		if strconv.Itoa(got.Code) != code || method != http.MethodHead && !strings.Contains(got.Body.String(), want) || got.Header().Get("Allow") != "" {
			t.Errorf("%s %s: %d %s", method, path, got.Code, got.Body)
		}
	}
	if got := do(http.MethodGet, "/apis/nope/v1/foos"); got.Body.String() != "404 page not found\n" {
		t.Errorf("a group that is not served: %d %s", got.Code, got.Body)
	}
}
