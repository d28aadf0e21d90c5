package guests

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/mod/modfile"

	"github.com/informersim/informersim/subjects/clientgo/releases"
)

// tree writes files, whose names are of a folder, and returns the folder.
func tree(t *testing.T, files map[string]string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range files {
		file := filepath.Join(root, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestWorkingCopies(t *testing.T) {
	const staged = "kubernetes/staging/src/k8s.io/client-go/"
	root := tree(t, map[string]string{
		"client-go/go.mod":                       "module k8s.io/client-go\n",
		"client-go/tools/cache/the_real_fifo.go": "package cache\n",
		"client-go/rest/request.go":              "package rest\n",
		"kubernetes/go.mod":                      "module k8s.io/kubernetes\n",
		staged + "go.mod":                        "module k8s.io/client-go\n",
		staged + "features/known_features.go":    "package features // AtomicFIFO\n",
		"old/go.mod":                             "module k8s.io/client-go\n",
		"api/go.mod":                             "module k8s.io/api\n",
		"empty/go.mod":                           "",
		"none/readme":                            "",
	})
	t.Chdir(root)
	t.Setenv("HOME", root)
	t.Setenv("USERPROFILE", root)
	for name, want := range map[string]string{
		"./client-go": "client-go v0.33", "client-go/../client-go/": "", filepath.Join(root, "client-go"): "client-go v0.33", "~/client-go": "client-go v0.33",
		"./kubernetes": strings.TrimSuffix(staged, "/") + " v0.36", "./" + staged: strings.TrimSuffix(staged, "/") + " v0.36",
		"./old":     "has less than v0.26 has",
		"./api":     "has the module k8s.io/api, not k8s.io/client-go",
		"./empty":   "go.mod names no module: name the folder of client-go's go.mod",
		"./none":    "go.mod: no such file or directory: name the folder of client-go's go.mod, or of a clone of Kubernetes",
		"./nowhere": "nowhere: no such file or directory: name the folder",
	} {
		if !IsFolder(name) {
			if want != "" {
				t.Errorf("%s is no folder", name)
			}
			continue
		}
		r, err := Release(Prefix + name)
		got := ""
		if err != nil {
			got = err.Error()
		} else {
			rel, _ := filepath.Rel(root, r.Folder)
			got = filepath.ToSlash(rel) + " v0." + strings.TrimPrefix(r.Version, r.Folder) + map[int]string{33: "33", 36: "36"}[r.Minor]
		}
		if want == "" || !strings.Contains(got, want) {
			t.Errorf("%s: %s, want %s", name, got, want)
		}
	}
	for _, name := range []string{"v0.31.14", "0.31", "latest", "", "built-in"} {
		if IsFolder(name) {
			t.Errorf("%q is a folder", name)
		}
	}
}

// A copy is built with what it is built with by itself: its go.mod's replacements, and those and the modules of its workspace.
func TestGoModOfWorkingCopies(t *testing.T) {
	t.Setenv("GOWORK", "")
	t.Setenv("GOFLAGS", "-mod=vendor") // which is for what the user builds
	const client = "module k8s.io/client-go\n\ngo 1.26.1\n\nrequire k8s.io/apimachinery v0.0.0\n"
	machinery := map[string]string{"a/go.mod": "module k8s.io/apimachinery\n\ngo 1.26.0\n", "b/go.mod": "module k8s.io/apimachinery\n\ngo 1.26.0\n"}
	for name, c := range map[string]struct {
		mod, work, want, sums string
	}{
		"by itself":             {client, "", "", "one\n"},
		"replacements":          {client + "replace (\n\tk8s.io/apimachinery => ../a\n\tk8s.io/client-go => ../client-go\n\tx.io/y v1.0.0 => x.io/z v1.2.0\n)\n", "", "k8s.io/apimachinery=ROOT/a x.io/y@v1.0.0=x.io/z@v1.2.0", "one\n"},
		"a workspace":           {client, "go 1.26.1\n\nuse (\n\t./client-go\n\t./a\n)\n\nreplace x.io/y => ./b\n", "k8s.io/apimachinery=ROOT/a x.io/y=ROOT/b", "one\ntwo\n"},
		"its member wins":       {client + "replace k8s.io/apimachinery => ../b\n", "go 1.26.1\n\nuse (\n\t./client-go\n\t./a\n)\n", "k8s.io/apimachinery=ROOT/a", "one\ntwo\n"},
		"a workspace of others": {client + "replace k8s.io/apimachinery => ../b\n", "go 1.26.1\n\nuse ./a\n", "k8s.io/apimachinery=ROOT/b", "one\n"},
	} {
		files := map[string]string{"client-go/go.mod": c.mod, "client-go/go.sum": "one\n", "a/go.mod": machinery["a/go.mod"], "b/go.mod": machinery["b/go.mod"]}
		if c.work != "" {
			files["go.work"], files["go.work.sum"] = c.work, "two\n"
		}
		root := tree(t, files)
		folder := filepath.Join(root, "client-go")
		mod, sums, err := copyMod(t.Context(), folder)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		f, err := modfile.Parse("go.mod", []byte(mod), nil)
		if err != nil {
			t.Errorf("%s: %v\n%s", name, err, mod)
			continue
		}
		var got []string
		for _, r := range f.Replace {
			if r.Old.Path == clientGo {
				if r.New.Path != folder {
					t.Errorf("%s: client-go is %s", name, r.New.Path)
				}
				continue
			}
			got = append(got, strings.ReplaceAll(r.Old.String()+"="+r.New.String(), root, "ROOT"))
		}
		if text := filepath.ToSlash(strings.Join(got, " ")); text != c.want || f.Go.Version != "1.26.1" {
			t.Errorf("%s: go %s, %s, want %s", name, f.Go.Version, text, c.want)
		}
		if want := c.sums; string(sums) != want {
			t.Errorf("%s: the checksums are %q, want %q", name, sums, want)
		}
	}
}

// The signs of a release are in its files, as far as releases have been downloaded.
func TestSignsOfReleases(t *testing.T) {
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, m := range releases.All() {
		folder := filepath.Join(strings.TrimSpace(string(out)), "k8s.io", "client-go@"+m.NewestVersion())
		if _, err := os.Stat(folder); err != nil {
			continue
		}
		want, err := releases.Parse(m.NewestVersion())
		if err != nil {
			t.Fatal(err)
		}
		got, err := copyIn(folder)
		switch {
		case m.Number < releases.OldestCopy && err == nil:
			t.Errorf("%s is taken for v0.%d", folder, got.Minor)
		case m.Number < releases.OldestCopy:
		case err != nil:
			t.Error(err)
		case strings.Join(got.Tags(), " ") != strings.Join(want.Tags(), " ") || len(got.Lacks()) != len(want.Lacks()) || got.Gated() != want.Gated():
			t.Errorf("%s is taken for v0.%d", folder, got.Minor)
		}
		seen++
	}
	if seen == 0 {
		t.Errorf("not even %s is in the module cache", releases.BuiltIn)
	}
	t.Logf("%d releases", seen)
}
