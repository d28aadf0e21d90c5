package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informersim/informersim/cmd/internal/launcher"
)

// The command prints the name of a file that `go build -overlay` reads, whose replacements exist.
func TestOverlay(t *testing.T) {
	if tool, err := launcher.Toolchain(t.Context(), "", os.Environ()); err == nil && tool.Downloaded() {
		t.Skip("the go command has downloaded its toolchain: TestGo has what is said then")
	}
	c := command(t, "overlay", "--dir", t.TempDir())
	if c.code != exitOK {
		t.Fatalf("exit code %d: %s", c.code, c.stderr)
	}
	data, err := os.ReadFile(strings.TrimSuffix(c.stdout, "\n"))
	if err != nil {
		t.Fatal(err)
	}
	var o struct{ Replace map[string]string }
	if err := json.Unmarshal(data, &o); err != nil || len(o.Replace) == 0 {
		t.Fatalf("%v: %s", err, data)
	}
	for from, to := range o.Replace {
		for _, name := range []string{from, to} {
			if _, err := os.Stat(name); err != nil || !filepath.IsAbs(name) {
				t.Errorf("%s: %v", name, err)
			}
		}
	}
	if c := command(t, "overlay", "x"); c.code != exitBadInput || !strings.Contains(c.stderr, "overlay --help") {
		t.Errorf("with an argument: exit code %d, %s", c.code, c.stderr)
	}
}
