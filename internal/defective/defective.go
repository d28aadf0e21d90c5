package defective

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// Build builds the program of a folder, with a text in one file replaced that is there once, and returns its path. Both paths are relative to the test's folder.
func Build(t testing.TB, program, file, text, defect string) string {
	t.Helper()
	file, err := filepath.Abs(file)
	if err != nil {
		t.Fatal(err)
	}
	source, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(string(source), text); n != 1 {
		t.Fatalf("%s has %q %d times, want it once", file, text, n)
	}
	dir := t.TempDir()
	edited, overlay, bin := filepath.Join(dir, "edited.go"), filepath.Join(dir, "overlay.json"), filepath.Join(dir, "program")
	edits, err := json.Marshal(map[string]map[string]string{"Replace": {file: edited}})
	if err != nil {
		t.Fatal(err)
	}
	write := func(path, text string) {
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	write(edited, strings.Replace(string(source), text, defect, 1))
	write(overlay, string(edits))
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-overlay", overlay, "-o", bin, program).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	return bin
}
