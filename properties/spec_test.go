package properties

import (
	"os"
	"strings"
	"testing"
)

// docs/spec describes each property. internal/tidy checks the other direction.
func TestAllAreSpecified(t *testing.T) {
	page, err := os.ReadFile("../docs/spec/properties.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range All() {
		if !strings.Contains(string(page), "**"+p.Name+"** (properties") {
			t.Errorf("docs/spec/properties.md does not describe %s as checked in (properties)", p.Name)
		}
	}
}
