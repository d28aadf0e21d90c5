package wellbehaved

import (
	"fmt"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/util/json"
)

// What is sent is compared with what is there field by field; zero values and what the sender does not have need not agree.
func TestMissed(t *testing.T) {
	for _, c := range []struct {
		sent, got string
		want      []string
	}{
		{`{"a":1,"b":{"c":"x"}}`, `{"a":1.0,"b":{"c":"x","d":2}}`, nil},
		{`{"a":0,"b":"","c":false,"d":[],"e":null,"f":{}}`, `{}`, nil},
		{`{"a":0}`, `{"a":3}`, nil},
		{`{"a":{"b":1}}`, `{"a":2}`, []string{"a.b = 1: unset"}},
		{`{"a":[{"b":1},{"b":2},{"b":3}]}`, `{"a":[{"b":1},{"b":4}]}`, []string{"a[1].b = 2: 4", `a[2] = {"b":3}: not there`}},
		{`{"a":[1]}`, `{"a":[1,2]}`, nil},
		{`{"a":[1]}`, `{}`, []string{"a = [1]: unset"}},
	} {
		decoded := func(s string) (v map[string]any) {
			if err := json.Unmarshal([]byte(s), &v); err != nil {
				t.Fatal(err)
			}
			return v
		}
		var got []string
		missed("", decoded(c.sent), decoded(c.got), func(field, value, there string) { got = append(got, fmt.Sprintf("%s = %s: %s", field, value, there)) })
		if !slices.Equal(got, c.want) {
			t.Errorf("%s, %s: %q, want %q", c.sent, c.got, got, c.want)
		}
	}
}

// A request says what its sender means only in the version of the answer, and if what it has of the object is not from an old cache.
func TestSentFields(t *testing.T) {
	const path = "/apis/example.dev/v1/namespaces/default/gauges/g"
	for name, c := range map[string]struct {
		q    Request
		want bool
	}{
		"an update":                        {Request{Method: "PUT", Path: path, Body: `{"metadata":{"resourceVersion":"7"}}`}, true},
		"an update without a version":      {Request{Method: "PUT", Path: path, Body: `{"metadata":{}}`}, false},
		"an update in protobuf":            {Request{Method: "PUT", Path: path, Body: "k8s\x00"}, false},
		"an update of another API version": {Request{Method: "PUT", Path: "/apis/example.dev/v1beta1/namespaces/default/gauges/g", Body: `{"metadata":{"resourceVersion":"7"}}`}, false},
		"a merge patch":                    {Request{Method: "PATCH", Path: path, Body: `{"status":{}}`, ContentType: "application/merge-patch+json"}, true},
		"a JSON patch":                     {Request{Method: "PATCH", Path: path, Body: `[]`, ContentType: "application/json-patch+json"}, false},
		"an apply":                         {Request{Method: "PATCH", Path: path, Body: `{"status":{}}`, ContentType: "application/apply-patch+yaml"}, false},
	} {
		if got := sentFields(&c.q, "/apis/example.dev/v1/"); (got != nil) != c.want {
			t.Errorf("%s: %v", name, got)
		}
	}
}

// The subresource of a request is what its path has after the object's name.
func TestSubresource(t *testing.T) {
	for path, want := range map[string]string{
		"/apis/example.dev/v1/namespaces/default/gauges/g":                     "",
		"/apis/example.dev/v1/namespaces/default/gauges/g/status?dryRun=All":   "/status",
		"/apis/example.dev/v1/namespaces/g/gauges/g":                           "",
		"/apis/example.dev/v1/namespaces/g/gauges/g/scale?fieldManager=g/h/g/": "/scale",
	} {
		if got := (&Request{Path: path}).subresource("gauges default/g"); got != want {
			t.Errorf("%s: %q, want %q", path, got, want)
		}
	}
	if got := (&Request{Path: "/api/v1/nodes/status/status"}).subresource("nodes status"); got != "/status" {
		t.Errorf("of an object called status: %q", got)
	}
	if got := (&Request{Path: "/api/v1/nodes/status"}).subresource("nodes status"); got != "" {
		t.Errorf("of an object called status: %q", got)
	}
}
