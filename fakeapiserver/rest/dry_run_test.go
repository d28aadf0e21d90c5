package rest_test

import (
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/informersim/informersim/fakeapiserver/transport"
)

// A dry run answers as if it had been done, and stores nothing. A create with a resourceVersion passes, since it does not get to the
// store that refuses it.
func TestDryRunOfEveryVerb(t *testing.T) {
	s := newServed(t, 1)
	h := &transport.Handler{Driver: s.pump, API: s.api}
	do := func(method, path, contentType, body string) (int, string) {
		rec, r := httptest.NewRecorder(), httptest.NewRequest(method, path, strings.NewReader(body))
		r.Header.Set("Content-Type", contentType)
		h.ServeHTTP(rec, r)
		return rec.Code, rec.Body.String()
	}
	for path, kind := range map[string]string{
		"/api/v1/namespaces/default/configmaps":           `"apiVersion":"v1","kind":"ConfigMap"`,
		"/apis/example.dev/v1/namespaces/default/widgets": `"apiVersion":"example.dev/v1","kind":"Widget"`,
	} {
		object := func(name, more string) string { return `{` + kind + `,"metadata":{"name":"` + name + `"` + more + `}}` }
		if code, answer := do(http.MethodPost, path, "application/json", object("m", "")); code != 201 {
			t.Fatalf("%s: %d %s", path, code, answer)
		}
		code, before := do(http.MethodGet, path, "", "")
		if code != 200 {
			t.Fatalf("%s: %d %s", path, code, before)
		}
		for _, line := range []struct {
			code                            int
			method, name, contentType, body string
			contains                        string
		}{
			{201, "POST", "", "application/json", object("n", ""), `"uid":`},
			{201, "POST", "", "application/json", object("n", `,"resourceVersion":"12"`), `"resourceVersion":"12"`},
			{409, "POST", "", "application/json", object("m", ""), "already exists"},
			{200, "PUT", "/m", "application/json", object("m", `,"labels":{"a":"b"},"resourceVersion":"`+revisionIn(before)+`"`), `"a":"b"`},
			{200, "PATCH", "/m", "application/merge-patch+json", `{"metadata":{"labels":{"a":"b"}}}`, `"a":"b"`},
			{201, "PATCH", "/n", "application/apply-patch+yaml", object("n", `,"labels":{"a":"b"}`), `"a":"b"`},
			{200, "DELETE", "/m", "application/json", "", `"m"`},
			{200, "DELETE", "", "application/json", "", `"m"`},
		} {
			code, answer := do(line.method, path+line.name+"?dryRun=All&fieldManager=x", line.contentType, line.body)
			if code != line.code || !strings.Contains(answer, line.contains) {
				t.Errorf("%s %s%s %s: %d %s", line.method, path, line.name, line.body, code, answer)
			}
			if _, after := do(http.MethodGet, path, "", ""); after != before {
				t.Fatalf("%s %s%s has changed something:\n%s\n%s", line.method, path, line.name, before, after)
			}
		}
	}
}

// revisionIn returns the last resourceVersion in a list, which is that of its only item.
func revisionIn(list string) string {
	_, rest, _ := strings.Cut(list[strings.LastIndex(list, `"resourceVersion":"`):], `":"`)
	rev, _, _ := strings.Cut(rest, `"`)
	return rev
}
