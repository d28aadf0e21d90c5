package dropin

import (
	"path/filepath"
	"testing"

	"github.com/informersim/informersim/informer/dropin/internal/apisurface"
)

// TestExportsWhatClientGoExports compares this package's exported names and signatures with those of the client-go in
// go.mod.
func TestExportsWhatClientGoExports(t *testing.T) {
	dir, err := apisurface.ModuleDir("k8s.io/client-go")
	if err != nil {
		t.Fatal(err)
	}
	want, err := apisurface.Read(filepath.Join(dir, "tools", "cache"))
	if err != nil {
		t.Fatal(err)
	}
	got, err := apisurface.Read(".", "cache")
	if err != nil {
		t.Fatal(err)
	}
	if len(want) < 250 {
		t.Fatalf("client-go's package exports only %d names: the test looks in the wrong place", len(want))
	}
	for _, missing := range got.Missing(want) {
		t.Error(missing)
	}
}
