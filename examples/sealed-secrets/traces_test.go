package sealedsecrets_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// The traces beside docs/findings.md are runs of this controller: one that does not replay is removed, and made anew by its test.
func TestTracesReplay(t *testing.T) {
	const folder = "../../docs/findings/sealed-secrets"
	traces, err := filepath.Glob(filepath.Join(folder, "*.trace.jsonl"))
	if err != nil || len(traces) == 0 {
		t.Fatalf("%s has no traces: %v", folder, err)
	}
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	for _, trace := range traces {
		name, _, _ := strings.Cut(filepath.Base(trace), "-")
		data, err := os.ReadFile(trace)
		if err != nil {
			t.Fatal(err)
		}
		file := filepath.Join(t.TempDir(), filepath.Base(trace)) // a replay writes its report beside the trace
		if err := os.WriteFile(file, data, 0o666); err != nil {
			t.Fatal(err)
		}
		out, _ := exec.Command(exe, "-test.run=^"+name+"$", "-simtest.replay="+file).CombinedOutput() // it fails, with what the trace shows
		if !strings.Contains(string(out), "is the same run again, step by step") {
			t.Errorf("%s does not replay: remove it, and go test -run '^%s$' . -simtest.shrink=1m -simtest.traces=%s\n%s", trace, name, folder, out)
		}
	}
}
