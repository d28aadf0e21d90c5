package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informersim/informersim/internal/defective"
)

// defectiveProgram builds this program with a defect: what that is happens when a handler is told of a deletion, on client-go's goroutine.
func defectiveProgram(t *testing.T, defect string) string {
	const told = "\th.called(call{sort: Delete, obj: obj})\n"
	return defective.Build(t, ".", "../../subjects/clientgo/gates/handler.go", told, defect+told)
}

// A run of client-go's that ends its process has a trace and is shrunk: a guest makes it again, and those that follow. Whatever makes such a run goes on.
func TestRunsThatEndTheirProcess(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds the command")
	}
	t.Parallel() // it waits for processes
	bin := defectiveProgram(t, "\tgo func() { panic(\"a defect\") }()\n")
	dir := t.TempDir()
	script := "resource pods\nresource configmaps\ncreate pods default/a default/b\ninformer i1 pods handlers=h1\nsettle\ninformer i2 configmaps\nhandler i2 h2\nsettle\nupdate pods default/a\n" +
		"advance 1m\ndelete pods default/b\nsettle\n"
	if err := os.WriteFile(filepath.Join(dir, "many.sim"), []byte(script), 0o666); err != nil {
		t.Fatal(err)
	}
	play := func(stdin string, args ...string) (code int, said string) {
		t.Helper()
		c := exec.Command(bin, args...)
		c.Dir, c.Stdin = dir, strings.NewReader(stdin)
		out, _ := c.CombinedOutput() // the exit code says it
		return c.ProcessState.ExitCode(), string(out)
	}
	code, said := play("", "fuzz", "many.sim", "--subject", "client-go", "--seeds", "1..1", "--out", "out")
	if code != exitBroken || !strings.Contains(said, "no single command, argument or pick can be removed") {
		t.Fatalf("exit code %d:\n%s", code, said)
	}
	folder := filepath.Join(dir, "out/findings/NoPanic-*") + "/"
	small, err := os.ReadFile(globbed(t, folder+"scenario.sim"))
	if err != nil || !strings.HasPrefix(string(small), "# NoPanic: ") || strings.Count(string(small), "\n") > 8 || strings.Contains(string(small), "configmaps") {
		t.Errorf("%v: what is left is\n%s", err, small)
	}
	for _, file := range []string{"README.md", "story.txt"} {
		if text, err := os.ReadFile(globbed(t, folder+file)); err != nil || strings.Contains(string(text), "not deterministic") || !strings.Contains(string(text), "--subject client-go@built-in") {
			t.Errorf("%s: %v:\n%s", file, err, text)
		}
	}
	trace, scenario := globbed(t, folder+"run.trace.jsonl"), globbed(t, folder+"scenario.sim")
	for _, args := range [][]string{
		{"replay", trace}, {"verify", "--repeat", "1", trace}, {"verify", scenario, "--subject", "client-go", "--seeds", "1", "--repeat", "1"}, {"diff", scenario},
		{"run", scenario, "--subject", "client-go"}, {"run", "many.sim", "--subject", "client-go", "--seed", "1..3", "--json"}, {"run", "/dev/stdin", "--subject", "client-go"},
		{"run", "many.sim", "--subject", "client-go", "--rewrite"}, {"run", "many.sim", "--subject", "client-go", "--shrink", "20s"},
	} {
		code, said := play(script, args...)
		if code != exitBroken || !strings.Contains(said, "NoPanic") || !strings.Contains(said, "panic: a defect") {
			t.Errorf("%v: exit code %d:\n%s", args, code, said)
		}
	}
	for _, args := range [][]string{{"shrink", trace, "--force"}, {"shrink", "many.sim", "--subject", "client-go", "--force"}} {
		if code, said := play("", args...); code != exitOK || !strings.Contains(said, "FAIL  NoPanic at step ") || strings.Contains(said, "configmaps") {
			t.Errorf("%v: exit code %d:\n%s", args, code, said)
		}
	}
}
