package properties

import (
	"os"
	"strings"
	"testing"
)

// Each property is described in docs/spec. That what is described there exists is internal/tidy's to check.
func TestAllAreSpecified(t *testing.T) {
	page, err := os.ReadFile("../docs/spec/properties.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range All() {
		if !strings.Contains(string(page), "**"+p.Name+"** (properties): ") {
			t.Errorf("docs/spec/properties.md does not describe %s as checked in (properties)", p.Name)
		}
	}
}
