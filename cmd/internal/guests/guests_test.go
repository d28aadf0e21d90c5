package guests

import (
	"bytes"
	"errors"
	"os/exec"
	"strings"
	"testing"

	"github.com/informersim/informersim/subjects/clientgo/releases"
)

// release returns a release that no test can find in a cache of guests.
func release(t *testing.T, version string) releases.Release {
	t.Helper()
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	r, err := releases.Parse(version)
	if err != nil {
		t.Fatal(err)
	}
	return r
}

func TestWithoutGo(t *testing.T) {
	r := release(t, "v0.31.14")
	t.Setenv("PATH", t.TempDir())
	var said bytes.Buffer
	if _, err := find(t.Context(), r, &said); err == nil || !strings.Contains(err.Error(), "install Go from https://go.dev/dl") || said.Len() > 0 {
		t.Errorf("the error is %v, after %q", err, said.String())
	}
}

func TestOffline(t *testing.T) {
	r := release(t, "v0.37.99")
	t.Setenv("GOPROXY", "off")
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOCACHE", t.TempDir())
	var said bytes.Buffer
	_, err := find(t.Context(), r, &said)
	if err == nil || !strings.Contains(err.Error(), "is not in the module cache, and it cannot be downloaded") || !strings.Contains(err.Error(), "GOPROXY") {
		t.Errorf("the error is %v", err)
	}
	if !strings.Contains(said.String(), "building a guest with client-go v0.37.99") {
		t.Errorf("it says %q", said.String())
	}
}

func TestFailedBuildsAreExplained(t *testing.T) {
	b := &builder{r: release(t, "v0.31.99")}
	for said, want := range map[string]string{
		"go: k8s.io/client-go@v0.31.99: reading https://proxy.golang.org/k8s.io/client-go/@v/v0.31.99.info: 404 Not Found\n\tserver response: not found: invalid version: unknown revision v0.31.99": "there is no client-go v0.31.99: go list -m -versions k8s.io/client-go",
		"go: k8s.io/client-go@v0.31.99: Get \"https://proxy.golang.org/x\": dial tcp: lookup proxy.golang.org: no such host":                                                                         "cannot be downloaded: go: k8s.io/client-go@v0.31.99",
		"x.go:1:1: undefined: y": "building client-go@v0.31.99: exit status 1\nx.go:1:1: undefined: y",
	} {
		if got := b.explain(said, errors.New("exit status 1")).Error(); !strings.Contains(got, want) {
			t.Errorf("%q\nbecomes %q", said, got)
		}
	}
}

// The sources are complete: nothing that they import of this module is left out, and no test is part of them.
func TestSources(t *testing.T) {
	folders := map[string]bool{}
	var imports []string
	err := sources(func(name string, data []byte) error {
		folders[name[:strings.LastIndex(name, "/")]] = true
		if strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s is a source", name)
		}
		for line := range strings.Lines(string(data)) {
			_, path, _ := strings.Cut(line, `"github.com/informersim/informersim/`)
			if path, ok := strings.CutSuffix(strings.TrimSpace(path), `"`); ok && path != "" {
				imports = append(imports, path)
			}
		}
		return nil
	})
	if err != nil || len(folders) < 6 || len(imports) < 6 {
		t.Fatalf("%d folders, %d imports: %v", len(folders), len(imports), err)
	}
	for _, path := range imports {
		if !folders[path] {
			t.Errorf("%s is imported and not a source", path)
		}
	}
}

// The user's flags are not for what is built once and kept for all runs.
func TestBuildsWithoutFlags(t *testing.T) {
	for _, flags := range []string{"-mod=vendor", "-race"} {
		t.Setenv("GOFLAGS", flags)
		cmd := exec.CommandContext(t.Context(), "go", "env", "GOFLAGS")
		cmd.Env = environ()
		if out, err := cmd.Output(); err != nil || string(out) != "-mod=readonly\n" {
			t.Errorf("with GOFLAGS=%s a guest is built with %q, %v", flags, out, err)
		}
	}
}
