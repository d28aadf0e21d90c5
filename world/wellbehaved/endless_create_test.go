package wellbehaved

import (
	"testing"
	"time"

	"github.com/informersim/informersim/reports"
)

// A rate limiter doubles the wait each time, up to a limit; what else repeats a request does not.
func TestDoubles(t *testing.T) {
	for name, c := range map[string]struct {
		waits []time.Duration // in seconds
		want  bool
	}{
		"a rate limiter":              {[]time.Duration{1, 2, 4, 8}, true},
		"looked at once more between": {[]time.Duration{1, 2, 4, 8, 3, 13}, true},
		"too few":                     {[]time.Duration{1, 2, 4}, false},
		"disturbed":                   {[]time.Duration{1, 2, 4, 5, 3, 16, 32}, false},
		"regular":                     {[]time.Duration{60, 60, 60, 60, 60}, false},
		"ever rarer":                  {[]time.Duration{1, 3, 9, 27, 81}, false},
	} {
		all := []reports.Evidence{{}}
		for _, d := range c.waits {
			all = append(all, reports.Evidence{At: all[len(all)-1].At + d*time.Second})
		}
		if got := doubles(all); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}

// Only a create of the resource itself, whose name is known, says what it makes.
func TestKeyOf(t *testing.T) {
	for _, c := range []struct{ plural, path, name, want string }{
		{"secrets", "/api/v1/namespaces/default/secrets?dryRun=All", "a", "secrets default/a"},
		{"nodes", "/api/v1/nodes", "a", "nodes a"},
		{"namespaces", "/api/v1/namespaces", "a", "namespaces a"},
		{"secrets", "/api/v1/namespaces/default/secrets", "a-*", ""},
		{"secrets", "/api/v1/namespaces/default/secrets", "", ""},
		{"pods", "/api/v1/namespaces/default/pods/a/eviction", "a", ""},
	} {
		if got := keyOf(c.plural, c.path, c.name); got != c.want {
			t.Errorf("%+v: %q", c, got)
		}
	}
}

// A create that is for the same owners is for the same object, whatever it says now; of one without owners nothing is known.
func TestSameOwners(t *testing.T) {
	a, b := `{"metadata":{"ownerReferences":[{"uid":"1"}]},"data":{"x":"1"}}`, `{"metadata":{"ownerReferences":[{"uid":"1"}]},"data":{"x":"2"}}`
	for _, c := range []struct {
		a, b string
		want bool
	}{{a, b, true}, {a, `{"metadata":{"ownerReferences":[{"uid":"2"}]}}`, false}, {`{}`, `{"data":{}}`, false}, {a, `{}`, false}, {`k8s`, `k8s`, false}} {
		if got := sameOwners(c.a, c.b); got != c.want {
			t.Errorf("%s, %s: %t", c.a, c.b, got)
		}
	}
}
