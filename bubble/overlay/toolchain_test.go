package overlay

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// The go command takes an overlay of a toolchain in its module cache, where it puts those that it downloads, by the name that Overlaid gives it, and by no
// other. Here the module cache is said to be the folder that the toolchain lies in.
func TestDownloadedToolchain(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the standard library")
	}
	has := toolchain(t)
	env := append(slices.Clip(has.Env), "GOMODCACHE="+filepath.Dir(has.Root))
	asked, err := Ask(t.Context(), has.Command, "", env)
	if err != nil || !asked.Downloaded() {
		t.Fatalf("%+v, %v: it lies in the module cache", asked, err)
	}
	links := t.TempDir()
	overlaid, err := asked.Overlaid(links)
	if err != nil {
		t.Fatal(err)
	}
	if again, err := asked.Overlaid(links); err != nil || again.Root != overlaid.Root {
		t.Errorf("the second time it is %+v, %v, the first time it was %+v", again, err, overlaid)
	}
	if overlaid.Downloaded() || overlaid.Root == asked.Root || overlaid.Version != asked.Version {
		t.Errorf("%+v became %+v", asked, overlaid)
	}

	plain, err := Write(asked.Root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(asked.Command, "build", "-overlay", plain, "-o", filepath.Join(t.TempDir(), "program.exe"), "testdata/next/main.go")
	cmd.Env = asked.Env
	if out, err := cmd.CombinedOutput(); err == nil || !strings.Contains(string(out), "Files beneath GOMODCACHE") {
		t.Errorf("the go command now takes an overlay of files in its module cache, so links are no longer needed: %v, %s", err, out)
	}

	linked, err := Write(overlaid.Root, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	if got := lines(t, built(t, overlaid, "testdata/next/main.go", "-overlay", linked)); got[1] != "none at 0s: -1ns" { // what a runtime without edits does not say
		t.Errorf("the overlay has no effect: %s", strings.Join(got, "\n"))
	}
}

// A toolchain that the go command has not downloaded stays as it is.
func TestInstalledToolchain(t *testing.T) {
	has := toolchain(t)
	asked, err := Ask(t.Context(), has.Command, "", append(slices.Clip(has.Env), "GOMODCACHE="+t.TempDir()))
	if err != nil || asked.Downloaded() {
		t.Fatalf("%+v, %v", asked, err)
	}
	links := t.TempDir()
	if overlaid, err := asked.Overlaid(links); err != nil || overlaid != asked {
		t.Errorf("it becomes %+v, %v", overlaid, err)
	}
	if made, err := os.ReadDir(links); err != nil || len(made) > 0 {
		t.Errorf("links are made: %v, %v", made, err)
	}
}

// Where no link can be made, the error says what to do.
func TestNoLink(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o666); err != nil {
		t.Fatal(err)
	}
	tool := &Toolchain{Root: filepath.Join("cache", "toolchain@v0.0.1-go1.27.3"), Version: "go1.27.3", moduleCache: "cache"}
	_, err := tool.Overlaid(file)
	if err == nil || !strings.Contains(err.Error(), "install go1.27.3") {
		t.Errorf("the error is %v", err)
	}
}
