package tidy

import (
	"bytes"
	"flag"
	"go/parser"
	"go/token"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
)

var copyMirrors = flag.Bool("copy-mirrors", false, "copy the files that two modules share")

// mirrors are files that two modules share. Neither module may require the other (the one is for users' go.mod, and the other is installed with
// `go install MODULE/cmd/…@version`, which refuses replacements), so each has a copy: of the files of a folder, or of those that are listed.
var mirrors = []struct {
	from, to string
	files    []string
}{
	{"world/wire", "simtest/internal/wire", nil},
	{"bubble/exchange", "simtest/internal/exchange", nil},
	{"bubble", "simtest/internal/bubble", nil},
	{"internal/newer", "simtest/internal/newer", nil},
	{"fakeapiserver/fault", "simtest/fault", []string{"fault.go", "fault_json.go", "kind.go", "mix_type.go", "trigger.go"}},
}

// mirrorOf returns what the copy of a file imports in place of a quoted path, "" if that has no copy.
func mirrorOf(imported string) string {
	for _, m := range mirrors {
		if imported == strconv.Quote(module+"/"+m.from) && m.files == nil {
			return strconv.Quote(module + "/" + m.to)
		}
	}
	return ""
}

// mirrored returns the files of a folder that are copied.
func mirrored(t *testing.T, root, folder string) (names []string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Join(root, filepath.FromSlash(folder)))
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		if name := e.Name(); strings.HasSuffix(name, ".go") && !strings.HasSuffix(name, "_test.go") {
			names = append(names, name)
		}
	}
	return names
}

// TestMirrorsAreCopies fails where a copy differs. After a change of the original: go test ./internal/tidy -run Mirrors -copy-mirrors
func TestMirrorsAreCopies(t *testing.T) {
	root, err := findRoot()
	if err != nil {
		t.Fatal(err)
	}
	for _, m := range mirrors {
		files := m.files
		if files == nil {
			files = mirrored(t, root, m.from)
			for _, name := range mirrored(t, root, m.to) {
				if !slices.Contains(files, name) {
					t.Errorf("%s has no original in %s", path.Join(m.to, name), m.from)
				}
			}
		}
		if len(files) == 0 {
			t.Errorf("%s has nothing to copy", m.from)
		}
		for _, name := range files {
			original, to := read(t, path.Join(m.from, name)), filepath.Join(root, filepath.FromSlash(m.to), name)
			parsed, err := parser.ParseFile(token.NewFileSet(), name, original, parser.ImportsOnly)
			if err != nil {
				t.Fatal(err)
			}
			for _, i := range parsed.Imports {
				if to := mirrorOf(i.Path.Value); to != "" {
					original = bytes.ReplaceAll(original, []byte(i.Path.Value), []byte(to))
				} else if strings.HasPrefix(i.Path.Value, `"`+module+"/") {
					t.Errorf("%s imports %s, which its copy in another module cannot", path.Join(m.from, name), i.Path.Value)
				}
			}
			copied, err := os.ReadFile(to)
			switch {
			case err == nil && bytes.Equal(original, copied):
			case *copyMirrors:
				if err := os.WriteFile(to, original, 0o644); err != nil {
					t.Fatal(err)
				}
			default:
				t.Errorf("%s is not what %s is: go test ./internal/tidy -run Mirrors -copy-mirrors", path.Join(m.to, name), path.Join(m.from, name))
			}
		}
	}
}
