package tidy

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// filesWithPaths are the files in which paths of this repository are checked: pages, and the commands' help texts.
var filesWithPaths = []string{"*.md", "docs/*.md", "docs/spec/*.md", "conformance/*.md", "cmd/*/*.go"}

// repoPath matches a path in this repository: it begins with one of its folders. Import paths and URLs do not match, because
// something precedes the folder.
var repoPath = regexp.MustCompile(`(?:^|[\s"'(=` + "`" + `])(?:\./)?((?:bubble|cmd|conformance|docs|examples|fakeapiserver|informer|internal|properties|reports|scenarios|sim|simtest|subjects|wild|world)/[A-Za-z0-9_.*/-]*[A-Za-z0-9_*/])`)

// mentionedPaths returns the paths in a text, in order.
func mentionedPaths(text string) []string {
	var paths []string
	for line := range strings.Lines(text) {
		for _, m := range repoPath.FindAllStringSubmatch(line, -1) {
			paths = append(paths, m[1])
		}
	}
	return paths
}

// matches reports whether a path exists. NAME stands for any name, as * does, and /... for everything below a folder.
func matches(root, path string) bool {
	path = strings.ReplaceAll(strings.TrimSuffix(strings.TrimSuffix(path, "..."), "/"), "NAME", "*")
	found, err := filepath.Glob(filepath.Join(root, filepath.FromSlash(path)))
	return err == nil && len(found) > 0
}

// Paths in pages and help texts exist.
func TestPathsInTextsExist(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	total := 0
	for _, pattern := range filesWithPaths {
		files, err := filepath.Glob(filepath.Join(root, pattern))
		if err != nil || len(files) == 0 {
			t.Errorf("no file matches %s: %v", pattern, err)
		}
		for _, file := range files {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			for _, path := range mentionedPaths(string(data)) {
				total++
				if !matches(root, path) {
					name, _ := filepath.Rel(root, file)
					t.Errorf("%s names %s, which does not exist", name, path)
				}
			}
		}
	}
	if total < 20 {
		t.Errorf("found only %d paths in all texts: repoPath does not match them", total)
	}
}

func TestMentionedPaths(t *testing.T) {
	text := "run `scenarios/testdata/NAME.sim` (sim/kernel.go), github.com/informersim/informersim/sim/trace, go test ./properties -run X\n" +
		"  informersim run scenarios/testdata/no_such_file.sim, docs/, see examples/controller-runtime.\n"
	got := strings.Join(mentionedPaths(text), " ")
	if want := "scenarios/testdata/NAME.sim sim/kernel.go scenarios/testdata/no_such_file.sim examples/controller-runtime"; got != want {
		t.Errorf("found %q, want %q", got, want)
	}
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]bool{
		"scenarios/testdata/NAME.sim": true, "sim/kernel.go": true, "scenarios/cmd_*.go": true, "sim/...": true, "examples/": true,
		"scenarios/testdata/no_such_file.sim": false, "sim/no_such_folder/NAME.go": false,
	} {
		if matches(root, path) != want {
			t.Errorf("matches(%s) = %v, want %v", path, !want, want)
		}
	}
}
