package launcher

import (
	"archive/zip"
	"bytes"
	"errors"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The go command does not leave the toolchain that the overlay is of for a newer one, which would go on without it.
func TestStaysWithToolchain(t *testing.T) {
	if _, err := exec.LookPath("go"); err != nil {
		t.Skipf("there is no go command: %v", err)
	}
	folder := t.TempDir()
	const mod = "module example.com/newer\n\ngo 1.99.0\n"
	var packed bytes.Buffer
	z := zip.NewWriter(&packed)
	w, err := z.Create("example.com/newer@v1.0.0/go.mod")
	if err == nil {
		_, err = io.WriteString(w, mod)
	}
	if err := errors.Join(err, z.Close()); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{"v1.0.0.info": `{"Version":"v1.0.0"}`, "v1.0.0.mod": mod, "v1.0.0.zip": packed.String()} {
		name = filepath.Join(folder, "example.com", "newer", "@v", name)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Setenv("GOPROXY", "file://"+filepath.ToSlash(folder))
	t.Setenv("GONOSUMDB", "*")
	t.Setenv("GOTOOLCHAIN", "auto")
	tool, err := Toolchain(t.Context(), folder, os.Environ())
	if err != nil {
		t.Fatal(err)
	}
	if tool.Downloaded() || strings.ContainsAny(tool.Version, " -") {
		t.Skipf("%s is not an installed release", tool.Version)
	}
	t.Setenv("GOMODCACHE", t.TempDir())
	t.Setenv("GOFLAGS", "-modcacherw")
	tool.Env = os.Environ()
	cmd := exec.Command(tool.Command, "run", "example.com/newer@v1.0.0")
	cmd.Dir, cmd.Env = folder, stay(tool, "run")
	out, err := cmd.CombinedOutput()
	if want := "requires go >= 1.99.0 (running go " + strings.TrimPrefix(tool.Version, "go"); err == nil || !strings.Contains(string(out), want) || strings.Contains(string(out), "switching") {
		t.Errorf("%v, %s; want %s", err, out, want)
	}
	if env := stay(tool, "test"); slices.Contains(env, "GOTOOLCHAIN="+tool.Version) {
		t.Error("a test cannot build what requires a newer toolchain")
	}
}
