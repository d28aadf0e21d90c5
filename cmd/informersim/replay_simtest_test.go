package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"
	"unicode"

	"github.com/informersim/informersim/simtest"
)

// asTest makes TestReplayOfATest the test that produced a trace: "same" unchanged, "other" after a change, "fixed" without the bug.
const asTest = "INFORMERSIM_TEST_AS_TEST"

func breaks(after time.Duration) func(*simtest.Env) {
	return func(env *simtest.Env) {
		env.Advance(after)
		env.Always("time stands still", func() error { return errors.New("it has passed") })
		env.Settle()
		env.Advance(time.Second)
	}
}

// The trace of a test is replayed by that test; if the test is not found, the command that replays the trace is printed.
func TestReplayOfATest(t *testing.T) {
	o := simtest.Options{Seeds: 1, Mix: "none"}
	switch os.Getenv(asTest) {
	case "same":
		simtest.Run(t, o, breaks(time.Second))
		return
	case "other":
		simtest.Run(t, o, breaks(2*time.Second))
		return
	case "fixed":
		simtest.Run(t, o, func(env *simtest.Env) { env.Settle() })
		return
	}
	if testing.Short() {
		t.Skip("it builds this test again")
	}
	found := simtest.Find(t, o, breaks(time.Second))
	if found == nil {
		t.Fatal("the test did not fail")
	}
	file := t.TempDir() + "/x.trace.jsonl"
	write := func(trace []byte) {
		if err := os.WriteFile(file, trace, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	write(found.Trace)
	t.Setenv(asTest, "same")
	got := command(t, "replay", file)
	if got.code != exitBroken || !strings.Contains(got.stdout, "is a trace of the Go test TestReplayOfATest of github.com/informersim/informersim/cmd/informersim, seed 1") ||
		!strings.Contains(got.stdout, "FAIL  time stands still at step") {
		t.Errorf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	left, err := filepath.Abs("testdata/simtest") // where a test that fails keeps its trace
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { os.RemoveAll(left) })
	t.Setenv(asTest, "other")
	if got := command(t, "replay", file); got.code != exitBroken || !strings.Contains(got.stdout, "differs from this program at step ") ||
		!strings.Contains(got.stdout, "Its seed 1 is run again.") || !strings.Contains(got.stdout, "FAIL  time stands still at step") {
		t.Errorf("after a change, exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	t.Setenv(asTest, "fixed")
	if got := command(t, "replay", file); got.code != exitOK || !strings.Contains(got.stdout, "passes now: it differs at step ") || !strings.Contains(got.stdout, "-simtest.verify -simtest.seed=1") {
		t.Errorf("after the fix, exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	t.Chdir(t.TempDir())
	if got := command(t, "replay", file); got.code != exitBadInput || !strings.Contains(got.stderr, "was not found from here") ||
		!strings.Contains(got.stderr, "go test") || !strings.Contains(got.stderr, "-simtest.replay="+file) {
		t.Errorf("elsewhere, exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	write(bytes.Replace(found.Trace, []byte(`"package":"github`), []byte(`"package":"-exec=x github`), 1))
	if got := command(t, "replay", file); got.code != exitBadInput || strings.Contains(got.stderr, "panic") {
		t.Errorf("of a strange package, exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}

// A package of a trace is checked before it gets near the go command or a line to paste.
func TestPackagesOfTraces(t *testing.T) {
	for path, want := range map[string]bool{
		".": true, "example.com/a/b-c.v2": true, "gopkg.in/yaml.v3": true, "m": true, "fmt": true, "a/c++": true,
		"": false, "..": false, "./x": false, "../x": false, "/etc": false, "a//b": false, "a/": false, "a/../b": false, "...": false, "a/...": false, "./...": false,
		"-exec=x": false, "a/-b": false, "a b": false, "a;b": false, "a\nb": false, "$(x)": false, "a@v1": false, "all": false, "std": false, "cmd": false,
	} {
		if got := isPackage(path); got != want {
			t.Errorf("isPackage(%q) is %v", path, got)
		}
	}
}

// The lines that a crafted trace makes the command print do nothing but replay it, and nothing in it reaches the terminal as it is.
func TestCraftedTraceOfATest(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	write := func(name string, h map[string]any) {
		t.Helper()
		h["trace"], h["version"], h["subject"], h["strategy"], h["seed"] = "informersim", 1, "simtest", "random", "1"
		line, err := json.Marshal(h)
		if err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, append(line, '\n'), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	name := "it's a $(touch PWNED).trace.jsonl"
	write(name, map[string]any{
		"scenario": "TestX/'; touch PWNED; '\x1b[2J\r\u202e\ntouch PWNED",
		"options":  map[string]string{"package": "example.com/not/here", "shrunkFrom": "\x1b[31m9 steps\ntouch PWNED"},
	})
	got := command(t, "replay", name)
	if got.code != exitBadInput || !strings.Contains(got.stderr, "was not found from here") {
		t.Fatalf("exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	for i, r := range got.stdout + got.stderr {
		if r != '\n' && r != '\t' && !unicode.IsPrint(r) {
			t.Errorf("%U is printed at %d", r, i)
		}
	}
	_, line, _ := strings.Cut(strings.TrimRight(got.stderr, "\n"), "run\n")
	if strings.Contains(line, "\n") {
		t.Errorf("more than one line to paste:\n%s", line)
	}
	stub := "#!/bin/sh\nprintf '%s\\n' \"$@\" >args\n"
	if err := os.WriteFile("go", []byte(stub), 0o700); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("sh", "-c", line)
	cmd.Env = append(os.Environ(), "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	if _, err := os.Stat("PWNED"); err == nil {
		t.Error("the line does something else, too")
	}
	args, err := os.ReadFile("args")
	if err != nil {
		t.Fatal(err)
	}
	if want := "-simtest.replay=" + filepath.Join(dir, name) + "\n"; !strings.HasSuffix(string(args), want) || !strings.Contains(string(args), "\x1b") {
		t.Errorf("the arguments are %q, want %q at the end", args, want)
	}
}
