package simtest_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
)

// Where no engine can be built, the failure says why, and what to do.
func TestEngineThatCannotBeBuilt(t *testing.T) {
	if isChild() {
		simtest.Run(t, simtest.Options{Seeds: 1}, func(env *simtest.Env) {})
		return
	}
	t.Setenv("INFORMERSIM", "")
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		path, home, cache string
		want              string
	}{
		{"", os.Getenv("HOME"), os.Getenv("XDG_CACHE_HOME"), "there is no engine on the PATH, and no Go to build one: get one with go install "},
		{os.Getenv("PATH"), "", "", "there is no folder for a cache"},
		{os.Getenv("PATH"), os.Getenv("HOME"), file, "the engine cannot be built: mkdir " + file},
	} {
		t.Setenv("PATH", test.path)
		t.Setenv("HOME", test.home)
		t.Setenv("XDG_CACHE_HOME", test.cache)
		wantIn(t, runChildWith(t, append(os.Environ(), childEnv+"=1")), test.want, "INFORMERSIM")
	}
}

// An engine that INFORMERSIM names is used also if it is older than the source, and each verdict says so.
func TestEngineThatIsOld(t *testing.T) {
	const stale = " is older than "
	if isChild() {
		for range 2 {
			r := &recorder{name: t.Name()}
			try(r, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) { env.Settle() })
			fmt.Println(strings.Join(r.logs, "\n"))
		}
		t.Error("the child is to fail")
		return
	}
	path, err := simtest.EnginePath()
	if err != nil {
		t.Fatal(err)
	}
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	old := filepath.Join(t.TempDir(), "engine")
	if err := os.WriteFile(old, data, 0o777); err != nil {
		t.Fatal(err)
	}
	for _, test := range []struct {
		built time.Time
		says  int
	}{
		{time.Now().Add(-24 * 365 * 10 * time.Hour), 3}, // once when it is started, and with each verdict
		{time.Now().Add(time.Hour), 0},
	} {
		if err := os.Chtimes(old, test.built, test.built); err != nil {
			t.Fatal(err)
		}
		out := runChildWith(t, append(os.Environ(), childEnv+"=1", "INFORMERSIM="+old))
		if n := strings.Count(out, stale); n != test.says || !strings.Contains(out, "nothing found") {
			t.Errorf("%d lines say that the engine of %v is old, want %d:\n%s", n, test.built, test.says, out)
		}
		if test.says > 0 {
			wantIn(t, out, "simtest: the engine that INFORMERSIM names, "+old+", is older than ", "Build it anew, or unset INFORMERSIM")
		}
	}
}

// Vendored files are of the version that go.mod names, or of the clone that it replaces the module by, which has the engine's source.
func TestVendoredVersion(t *testing.T) {
	folder := t.TempDir()
	const path = "github.com/informersim/informersim/simtest"
	write := func(name, text string) {
		t.Helper()
		file := filepath.Join(folder, filepath.FromSlash(name))
		if err := errors.Join(os.MkdirAll(filepath.Dir(file), 0o777), os.WriteFile(file, []byte(text), 0o666)); err != nil {
			t.Fatal(err)
		}
	}
	clone := filepath.Join(folder, "clone")
	write("clone/cmd/informersim-apiserver/main.go", "package main\n")
	write("clone/simtest/go.mod", "module "+path+"\n\ngo 1.25.0\n")
	write("copy/go.mod", "module "+path+"\n\ngo 1.25.0\n")
	t.Chdir(folder)
	t.Setenv("GOFLAGS", "-mod=vendor")
	t.Setenv("GOWORK", "off")
	for _, test := range []struct{ replace, release, source string }{
		{"", "v1.2.3", ""},
		{" => ./clone/simtest", "devel", clone},
		{" => ./copy", "devel", ""},
		{" => example.com/fork/simtest v1.2.4", "v1.2.4", ""},
	} {
		module := "module example.com/user\n\ngo 1.25.0\n\nrequire " + path + " v1.2.3\n"
		modules := "# " + path + " v1.2.3" + test.replace + "\n## explicit; go 1.25.0\n"
		if test.replace != "" {
			module += "\nreplace " + path + test.replace + "\n"
			modules += "# " + path + test.replace + "\n"
		}
		write("go.mod", module)
		write("vendor/modules.txt", modules)
		release, source := simtest.Vendored()
		if release != test.release || source != test.source {
			t.Errorf("%q: the release is %q and the clone %q, want %q and %q", test.replace, release, source, test.release, test.source)
		}
	}
}
