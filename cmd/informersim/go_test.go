package main

import (
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informersim/informersim/reports"
)

// The flag stands behind the go command's command and its folder.
func TestGoArguments(t *testing.T) {
	t.Setenv("GOFLAGS", "-mod=mod")
	for _, test := range []struct{ args, folder, command, head string }{
		{"test", "", "test", "test"},
		{"test ./... -run X", "", "test", "test"},
		{"-C ../a test -v", "../a", "test", "-C ../a test"},
		{"-C=a test", "a", "test", "-C=a test"},
		{"-C run test", "run", "test", "-C run test"},
		{"build -C a -o x .", "a", "build", "build -C a"},
		{"build --C=a -o x .", "a", "build", "build --C=a"},
		{"test . -args -overlay=mine", "", "test", "test"},
	} {
		args := strings.Fields(test.args)
		folder, command, place, err := goArguments(args)
		if err != nil || folder != test.folder || command != test.command || strings.Join(args[:place], " ") != test.head {
			t.Errorf("%s: the folder is %q, the command %q, the flag behind %q, %v", test.args, folder, command, args[:place], err)
		}
	}
	for args, want := range map[string]string{
		"": "no command of the go command", "-C a": "no command of the go command", "-C": "-C needs a folder", "test -C": "-C needs a folder", "mod tidy": `"mod" is no command`,
		"-v test": `"-v" is no command`, "test -overlay=x .": "-overlay=x would take the place", "test --overlay x .": "--overlay would take the place",
	} {
		c := command(t, append([]string{"go"}, strings.Fields(args)...)...)
		if c.code != exitBadInput || !strings.Contains(c.stderr, want) || !strings.Contains(c.stderr, "informersim go --help") {
			t.Errorf("go %s: exit code %d, %s", args, c.code, c.stderr)
		}
	}
	t.Setenv("GOFLAGS", "-v -overlay=x")
	if c := command(t, "go", "test"); c.code != exitBadInput || !strings.Contains(c.stderr, "-overlay=x would take the place") {
		t.Errorf("with an overlay in GOFLAGS: exit code %d, %s", c.code, c.stderr)
	}
	if c := command(t, "go", "--help"); c.code != exitOK || !strings.Contains(c.stdout, "overlay of Go's runtime") {
		t.Errorf("help: exit code %d, %s", c.code, c.stdout)
	}
}

// informersim go runs the go command with the overlay, and ends as that does, with a toolchain in the module cache, too.
func TestGo(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the standard library")
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	out, err := exec.Command("go", "env", "GOROOT", "GOCACHE").Output()
	if err != nil {
		t.Skipf("there is no go command: %v", err)
	}
	goroot, cache, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	t.Setenv("GOCACHE", cache) // what follows is the user's cache, where informersim keeps its overlay
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	t.Setenv("GOPATH", t.TempDir())
	inTemp(t, map[string]string{
		"a b/go.mod":  "module example.com/x\n\ngo 1.25\n",
		"a b/main.go": "package main\n\nimport (\n\t\"os\"\n\t_ \"unsafe\"\n)\n\n//go:linkname bubbleSeed runtime.bubbleSeed\nvar bubbleSeed uint64\n\nfunc main() { println(bubbleSeed); os.Exit(3) }\n",
	})
	for _, moduleCache := range []string{t.TempDir(), filepath.Dir(goroot)} {
		cmd := exec.Command(exe, "go", "run", "-C", "a b", ".")
		cmd.Env = append(os.Environ(), asCommand+"=1", "GOMODCACHE="+moduleCache, "GOFLAGS=")
		out, err := cmd.CombinedOutput()
		var exit *exec.ExitError
		if !errors.As(err, &exit) || exit.ExitCode() != 1 || string(out) != "1\nexit status 3\n" {
			t.Errorf("GOMODCACHE=%s: %v, %s", moduleCache, err, out)
		}
	}

	t.Setenv("GOMODCACHE", filepath.Dir(goroot))
	if c := command(t, "overlay"); c.code != exitBadInput || c.stdout != "" || !strings.Contains(c.stderr, "run informersim go test") {
		t.Errorf("overlay, for a toolchain in the module cache: exit code %d, %s%s", c.code, c.stdout, c.stderr)
	}
	if c := command(t, "go", "-C", "missing", "test"); c.code != exitBadInput || !strings.Contains(c.stderr, "missing") {
		t.Errorf("in a folder that is missing: exit code %d, %s", c.code, reports.PlainLine(c.stderr))
	}
}
