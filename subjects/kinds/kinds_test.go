package kinds_test

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/subjects/kinds"
)

func TestNamed(t *testing.T) {
	seen := map[string]bool{}
	for _, k := range kinds.All() {
		if got, err := kinds.Named(k.Name); err != nil || got.Name != k.Name || got.Engine != k.Engine {
			t.Errorf("%s: got %s of engine %s, %v", k.Name, got.Name, got.Engine, err)
		}
		if seen[k.Name] || k.Engine == "" || k.New == nil {
			t.Errorf("kind %q: named twice %v, engine %q", k.Name, seen[k.Name], k.Engine)
		}
		seen[k.Name] = true
	}
	if _, err := kinds.Named("stak"); err == nil || !strings.Contains(err.Error(), "there are stack, client-go") {
		t.Errorf("the error is %v", err)
	}
}
