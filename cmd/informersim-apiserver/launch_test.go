//go:build unix

package main

import (
	"bufio"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informersim/informersim/cmd/internal/cli"
	"github.com/informersim/informersim/cmd/internal/launcher"
)

// informersim replaces itself with this program: the process, its signals and its exit code are this program's.
func TestLaunchedByInformersim(t *testing.T) {
	if testing.Short() {
		t.Skip("-short leaves it out: it builds informersim, and other tests start the server")
	}
	bin := filepath.Join(t.TempDir(), "informersim")
	if out, err := exec.Command("go", "build", "-ldflags=-w", "-o", bin, "../informersim").CombinedOutput(); err != nil {
		t.Fatalf("go build: %v\n%s", err, out)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	inTemp(t, map[string]string{"empty.yaml": "---\n"})
	informersim := func(args ...string) *exec.Cmd {
		cmd := exec.CommandContext(t.Context(), bin, append([]string{"serve"}, args...)...)
		cmd.Env = append(os.Environ(), launcher.Env+"="+self, asCommand+"=1")
		return cmd
	}

	cmd := informersim("--kubeconfig", "kc", "--crd=")
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != cli.BadInput || !strings.Contains(string(out), "error: --crd: ") {
		t.Errorf("a file that is missing: %v, %s", err, out)
	}
	cmd = informersim("--crd", "empty.yaml")
	if out, err := cmd.CombinedOutput(); cmd.ProcessState.ExitCode() != cli.BadInput || !strings.Contains(string(out), "it contains no CustomResourceDefinition") {
		t.Errorf("an empty file: %v, %s", err, out)
	}

	write := exec.CommandContext(t.Context(), bin, "assets", "for/envtest")
	write.Env = append(os.Environ(), launcher.Env+"="+self, asCommand+"=1")
	there, err := filepath.Abs("for/envtest")
	if err != nil {
		t.Fatal(err)
	}
	if out, err := write.Output(); err != nil || string(out) != there+"\n" {
		t.Errorf("informersim assets prints %q, %v; want %s alone", out, err, there)
	}
	if out, err := program(t, there, "kube-apiserver", "--version").Output(); err != nil || !strings.HasPrefix(string(out), "Kubernetes v1.") {
		t.Errorf("kube-apiserver --version prints %q, %v", out, err)
	}

	cmd = informersim("--kubeconfig", "kc")
	stdout, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	lines := bufio.NewScanner(stdout)
	if !lines.Scan() || !strings.HasPrefix(lines.Text(), "serving on http://127.0.0.1:") {
		t.Fatalf("it prints %q, and ended with %v", lines.Text(), cmd.Wait())
	}
	resp, err := http.Get(strings.TrimPrefix(lines.Text(), "serving on ") + "/version")
	if err != nil {
		t.Fatal(err)
	}
	if resp.Body.Close(); resp.StatusCode != 200 {
		t.Errorf("GET /version: %s", resp.Status)
	}
	if _, err := os.Stat("kc"); err != nil {
		t.Error(err)
	}
	if err := cmd.Process.Signal(os.Interrupt); err != nil {
		t.Fatal(err)
	}
	if !lines.Scan() || lines.Text() != "stopped" {
		t.Errorf("after the interrupt it prints %q", lines.Text())
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("after the interrupt: %v", err)
	}
}
