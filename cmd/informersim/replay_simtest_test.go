package main

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
)

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
