package builtin

import (
	"crypto/sha512"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"testing"
)

// The documents have the hashes of a kube-apiserver v1.37.0, which openapi_hashes.txt was recorded from: they are its documents, byte for byte.
func TestDocumentsHaveTheirHashes(t *testing.T) {
	k := &kind{}
	hashes := k.DocumentHashes()
	if len(hashes) < 40 {
		t.Fatalf("%d hashes", len(hashes))
	}
	paths := slices.Sorted(maps.Keys(hashes))
	if testing.Short() {
		paths = []string{"api/v1", "apis/apiextensions.k8s.io/v1", "apis/apiregistration.k8s.io/v1", "version"}
	}
	for _, path := range paths {
		data, err := k.DocumentV3(path)
		if err != nil {
			t.Error(err)
		} else if hash := fmt.Sprintf("%X", sha512.Sum512(data)); hash != hashes[path] {
			t.Errorf("%s: its document has the hash %s, want %s", path, hash, hashes[path])
		}
	}
	if _, err := k.DocumentV3("apis/absent/v1"); err == nil || !strings.Contains(err.Error(), "/apis/absent/v1") {
		t.Errorf("a path that is not there: %v", err)
	}
}

// The size is that of the document of a kube-apiserver v1.37.0.
func TestDocumentV2(t *testing.T) {
	document, err := (&kind{}).DocumentV2()
	if err != nil {
		t.Fatal(err)
	}
	data, err := document.MarshalJSON()
	if err != nil {
		t.Fatal(err)
	}
	if len(document.Paths.Paths) != 432 || len(document.Definitions) != 624 || len(document.Parameters) != 47 || len(data) != 2354976 {
		t.Errorf("%d paths, %d definitions, %d parameters, %d bytes", len(document.Paths.Paths), len(document.Definitions), len(document.Parameters), len(data))
	}
}

// Documents are made from the same routes, several at once, and none changes them for the next.
func TestDocumentsShareRoutes(t *testing.T) {
	k := &kind{}
	hashes := k.DocumentHashes()
	var all sync.WaitGroup
	for _, path := range []string{"api/v1", "apis/apps/v1", "version", "api/v1", "version"} {
		all.Go(func() {
			data, err := k.DocumentV3(path)
			if hash := fmt.Sprintf("%X", sha512.Sum512(data)); err != nil || hash != hashes[path] {
				t.Errorf("%s: its document has the hash %s, want %s: %v", path, hash, hashes[path], err)
			}
		})
	}
	all.Go(func() {
		if document, err := k.DocumentV2(); err != nil || len(document.Paths.Paths) != 432 {
			t.Errorf("version 2: %v", err)
		}
	})
	all.Wait()
}

func BenchmarkDocumentV3(b *testing.B) {
	for b.Loop() {
		if _, err := (&kind{}).DocumentV3("apis/apps/v1"); err != nil {
			b.Fatal(err)
		}
	}
}
