package tidy

import (
	"os"
	"path"
	"slices"
	"strings"
	"testing"
)

// rootProblems returns the names that are neither permitted nor ignored, and those that are permitted but absent. Lines of
// .gitignore count if they name a file in the root or a pattern without a folder.
func rootProblems(names []string, permitted map[string]string, ignore string) (unknown, absent []string) {
	ignored := func(name string) bool {
		for _, line := range strings.Fields(ignore) {
			if ok, _ := path.Match(strings.Trim(line, "/"), name); ok {
				return true
			}
		}
		return false
	}
	for _, name := range names {
		if _, ok := permitted[name]; !ok && name != ".git" && !ignored(name) {
			unknown = append(unknown, name)
		}
	}
	for name := range permitted {
		if !slices.Contains(names, name) {
			absent = append(absent, name)
		}
	}
	slices.Sort(absent)
	return unknown, absent
}

// The root has the files and folders of the product and no others.
func TestRoot(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(root)
	if err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, e := range entries {
		names = append(names, e.Name())
	}
	unknown, absent := rootProblems(names, inRoot, string(read(t, ".gitignore")))
	for _, name := range unknown {
		t.Errorf("%s does not belong in the root: move or delete it, or list it in inRoot of internal/tidy/tables_test.go", name)
	}
	for _, name := range absent {
		t.Errorf("%s is no longer in the root: remove it from inRoot", name)
	}
}

func TestRootProblems(t *testing.T) {
	unknown, absent := rootProblems([]string{".git", "sim", "notes.txt", "informersim", "sim.test", "tmp"},
		map[string]string{"sim": "", "gone": ""}, "/informersim\n*.test\n/.ci/tmp/\n")
	if !slices.Equal(unknown, []string{"notes.txt", "tmp"}) || !slices.Equal(absent, []string{"gone"}) {
		t.Errorf("unknown %v, absent %v", unknown, absent)
	}
}
