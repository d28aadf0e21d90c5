package mutation

import (
	"path/filepath"
	"slices"
	"testing"
)

// A mutant of this module that the program does not link is for the one beside it; one of client-go, and one that does not fit, is not.
func TestBesides(t *testing.T) {
	root, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	tree := &Tree{root: root, target: explored, linked: map[string]bool{realFolder(filepath.Join(root, "fakeapiserver")): true},
		copies: []*copied{{module: clientGo, source: root, dir: filepath.Join(root, "copy")}}}
	of := func(name, file, old string) *Mutant {
		return &Mutant{Name: name, Edits: []Edit{{File: file, Old: old, New: "//\n"}}}
	}
	mine, besides := tree.besides([]*Mutant{
		of("linked", "fakeapiserver/stream.go", "package fakeapiserver\n"),
		of("not linked", "fakeapiserver/rest/write.go", "package rest\n"),
		of("of a copy", clientGo+"/doc.go", "package informersim\n"),
		of("stale", "fakeapiserver/rest/write.go", "package other\n"),
	})
	names := func(mutants []*Mutant) (all []string) {
		for _, m := range mutants {
			all = append(all, m.Name)
		}
		return all
	}
	if got, want := names(mine), []string{"linked", "of a copy", "stale"}; !slices.Equal(got, want) {
		t.Errorf("built here: %v, want %v", got, want)
	}
	if got, want := names(besides), []string{"not linked"}; !slices.Equal(got, want) {
		t.Errorf("built beside: %v, want %v", got, want)
	}
	tree.target.beside = nil
	if _, besides := tree.besides([]*Mutant{of("not linked", "fakeapiserver/rest/write.go", "package rest\n")}); besides != nil {
		t.Errorf("built beside, although there is no other program: %v", names(besides))
	}
}
