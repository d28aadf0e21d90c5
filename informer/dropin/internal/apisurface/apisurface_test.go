package apisurface

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func read(t *testing.T, source string) Surface {
	t.Helper()
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "p.go"), []byte(source), 0o600); err != nil {
		t.Fatal(err)
	}
	s, err := Read(dir, "cache")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestMissing(t *testing.T) {
	want := read(t, `package p
type Store interface{ Add(obj interface{}) error }
type Heap struct{ *base }
type base struct{ inner }
type inner struct{}
func (b *base) Add(obj interface{}) error { return nil }
func (inner) Close() {}
func (h *Heap) hidden() {}
func New(a, b string, s Store, f func(x int) bool) (Store, error) { return nil, nil }
func Gone()
var V, w = 1, 2
const C = 1
func hidden() {}
type lower struct{}
func (lower) Exported() {}
`)
	if got := strings.Join(want.Names(), " "); got != "C Gone Heap Heap.Add Heap.Close New Store V" {
		t.Fatalf("exported: %s", got)
	}
	same := read(t, `package p
import "cache"
type Store = cache.Store
type Heap = cache.Heap
func New(x string, y string, s cache.Store, f func(int) bool) (cache.Store, error) { return nil, nil }
var Gone = cache.Gone
var V = 1
const C = 1
`)
	if missing := same.Missing(want); len(missing) != 0 {
		t.Errorf("missing from a covering package: %v", missing)
	}
	other := read(t, `package p
type Store interface{}
type Heap struct{}
func New(x string, s Store) (Store, error) { return nil, nil }
func Gone()
const C = 1
`)
	got := strings.Join(other.Missing(want), "\n")
	for _, line := range []string{"Heap.Add is missing", "New is func(string, Store)", "V is missing"} {
		if !strings.Contains(got, line) {
			t.Errorf("%q is not in\n%s", line, got)
		}
	}
}

func TestErrors(t *testing.T) {
	if _, err := Read("no/such/dir"); err == nil {
		t.Error("Read of a missing directory succeeded")
	}
	if _, err := ModuleDir("example.invalid/no/such/module"); err == nil || !strings.Contains(err.Error(), "go.mod") {
		t.Errorf("ModuleDir of an unknown module: %v", err)
	}
}
