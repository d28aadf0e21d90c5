package main

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// workingCopy returns a copy of client-go as it is built in, and has guests in a folder of the test's.
func workingCopy(t *testing.T) string {
	t.Helper()
	asked := func(args ...string) string {
		out, err := exec.CommandContext(t.Context(), "go", args...).Output()
		if err != nil {
			t.Fatal(err)
		}
		return strings.TrimSpace(string(out))
	}
	for _, name := range []string{"GOCACHE", "GOMODCACHE"} { // which would be below the next
		t.Setenv(name, asked("env", name))
	}
	module := asked("list", "-m", "-f", "{{.Dir}}", "k8s.io/client-go")
	t.Setenv("XDG_CACHE_HOME", t.TempDir())
	t.Setenv("HOME", t.TempDir())
	folder := t.TempDir()
	if err := os.CopyFS(folder, os.DirFS(module)); err != nil {
		t.Fatal(err)
	}
	return folder
}

// alone runs the command in a process of its own.
func alone(t *testing.T, args ...string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	c := process(t, args...)
	c.Stdout, c.Stderr = &stdout, &stderr
	if err := c.Run(); err != nil && c.ProcessState == nil {
		t.Fatal(err)
	}
	return outcome{c.ProcessState.ExitCode(), stdout.String(), stderr.String()}
}

// A change of client-go is found in its folder, without a build of informersim; and so is its end.
func TestWorkingCopyAsSubject(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles client-go")
	}
	folder := workingCopy(t)
	subject := "client-go@" + folder
	hash := func(got outcome) string {
		t.Helper()
		var run struct{ Hash string }
		if err := json.Unmarshal([]byte(got.stdout), &run); err != nil {
			t.Fatalf("%v\n%s%s", err, got.stdout, got.stderr)
		}
		return run.Hash
	}
	released := command(t, "run", "--subject", "client-go", "--json")
	if copied := command(t, "run", "--subject", subject, "--json"); hash(copied) != hash(released) || copied.code != exitOK {
		t.Errorf("exit code %d: the hash is %s, and that of the release %s", copied.code, hash(copied), hash(released))
	}

	// Each state needs a process of its own: one keeps the guest that it has begun with.
	file := filepath.Join(folder, "tools", "cache", "shared_informer.go")
	was, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	const add = "func (p *processorListener) add(notification interface{}) {\n"
	edit := func(body string) {
		t.Helper()
		if !strings.Contains(string(was), add) {
			t.Fatalf("%q is not in %s", add, file)
		}
		changed := strings.Replace(string(was), add, add+body, 1)
		if err := os.WriteFile(file, []byte(changed), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	edit("\tif _, ok := notification.(deleteNotification); ok {\n\t\treturn\n\t}\n")
	trace := filepath.Join(t.TempDir(), "lost.trace.jsonl")
	if got := alone(t, "run", "--subject", subject, "--trace", trace); got.code != exitBroken || !strings.Contains(got.stdout, "FAIL  ReplaceDeletesMissing") {
		t.Errorf("handlers are told of no deletion: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if got := alone(t, "replay", trace); got.code != exitBroken || !strings.Contains(got.stdout, ": the same run, step by step") {
		t.Errorf("the same again: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}

	edit("")
	if got := alone(t, "replay", trace); got.code != exitOK || !strings.Contains(got.stdout, "it differs from the trace") || !strings.Contains(got.stdout, "client-go in "+folder) {
		t.Errorf("after the fix: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	got := alone(t, "replay", trace, "--subject", "client-go")
	if got.code != exitOK || !strings.Contains(got.stdout, "on client-go: it differs") || !strings.Contains(got.stdout, "The trace is of the subject "+subject) || strings.Contains(got.stdout, "nondeterminism") {
		t.Errorf("on the release: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	scenario, err := filepath.Abs("../../scenarios/testdata/k115658.sim")
	if err != nil {
		t.Fatal(err)
	}
	got = alone(t, "bisect", scenario, "--from", "v0.37", "--to", folder, "--json")
	if rows := strings.Count(got.stdout, `"verdict":"pass"`); rows != 2 || got.code != exitOK || !strings.Contains(got.stdout, filepath.Base(folder)) {
		t.Errorf("bisect has %d rows, exit code %d\n%s%s", rows, got.code, got.stdout, got.stderr)
	}

	edit("\tundefined()\n")
	if got := alone(t, "run", "--subject", subject); got.code != exitBadInput || !strings.Contains(got.stderr, "tools/cache/shared_informer.go:") || !strings.Contains(got.stderr, "undefined: undefined") {
		t.Errorf("it does not compile: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
	if err := os.RemoveAll(folder); err != nil {
		t.Fatal(err)
	}
	if got := alone(t, "replay", trace); got.code != exitBadInput || !strings.Contains(got.stderr, "informersim replay --subject") {
		t.Errorf("it has gone: exit code %d\n%s%s", got.code, got.stdout, got.stderr)
	}
}
