package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/conformance/transcript"
	"github.com/informersim/informersim/internal/probe"
)

// kubectlSettings holds the flags of the kubectl command.
type kubectlSettings struct {
	*settings
	program, scripts string
	rewriteScripts   bool
}

func kubectlCommand(s *settings) *cobra.Command {
	k := &kubectlSettings{settings: s}
	c := &cobra.Command{
		Use:   "kubectl",
		Short: "Run scripts of kubectl commands and compare their output with that recorded from a real apiserver",
		Args:  cobra.NoArgs,
		Example: `  go run . kubectl --target fake
  go run . kubectl --url http://127.0.0.1:8080
  go run . kubectl --server nodes
  go run . kubectl --rewrite`,
		RunE: func(c *cobra.Command, _ []string) error { return k.main(c.Context()) },
	}
	f := c.Flags()
	f.StringVar(&s.target, "target", "fake", "server under test: fake or real")
	f.StringVar(&s.url, "url", "", "test the server at this root instead of --target")
	f.StringVar(&k.program, "kubectl", "", "path of a kubectl to use instead of building one")
	f.StringVar(&s.kind, "server", kindCRDs, "what the server serves: crds, kube, or nodes, which is kube with a node and controllers")
	f.StringVar(&s.apiserver, "apiserver", "", "path of the informersim-apiserver to test with --server kube instead of building one")
	f.StringVar(&k.scripts, "scripts", "", "scripts to run (default testdata/kubectl/*.txt, with --server kube testdata/kubectl-kube/*.txt)")
	f.BoolVar(&k.rewriteScripts, "rewrite", false, "write the output of a real apiserver into the scripts")
	return c
}

func (k *kubectlSettings) main(ctx context.Context) error {
	if k.rewriteScripts {
		k.target, k.url = "real", ""
	}
	if k.scripts == "" {
		k.scripts = filepath.Join("testdata", map[string]string{kindCRDs: "kubectl", kindKube: "kubectl-kube", kindNodes: "kubectl-nodes"}[k.kind], "*.txt")
	}
	files, err := filepath.Glob(k.scripts)
	if err != nil || len(files) == 0 {
		return fmt.Errorf("no scripts match %s (%v)", k.scripts, err)
	}
	dir, err := os.MkdirTemp("", "informersim-kubectl-")
	if err != nil {
		return fmt.Errorf("make a temporary directory: %w", err)
	}
	defer os.RemoveAll(dir)
	if k.program == "" {
		k.program = filepath.Join(dir, "kubectl")
		build := exec.CommandContext(ctx, "go", "build", "-o", k.program, "./kubectl")
		if output, err := build.CombinedOutput(); err != nil {
			return fmt.Errorf("build kubectl: %w\n%s", err, output)
		}
	}
	targets, stop, err := k.startTargets(ctx, 1)
	if err != nil {
		return err
	}
	defer stop()
	differing := 0
	for _, file := range files {
		same, err := k.script(ctx, file, dir, targets[0])
		if err != nil {
			return fmt.Errorf("%s: %w", file, err)
		}
		if !same {
			differing++
		}
	}
	fmt.Fprintf(k.out, "%d kubectl scripts, %d differ\n", len(files), differing)
	if differing > 0 && !k.rewriteScripts {
		return differ{differing}
	}
	return nil
}

// script plays one file and reports whether it printed the expected output.
func (k *kubectlSettings) script(ctx context.Context, file, dir string, target probe.Target) (bool, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return false, err
	}
	blocks, err := transcript.Parse(file, string(text))
	if err != nil {
		return false, err
	}
	if k.kind == kindCRDs { // a script about built-in kinds deletes what it made
		if err := probe.Clean(ctx, target); err != nil {
			return false, err
		}
	}
	runner := transcript.Runner{Kubectl: k.program, URL: target.Root(), Dir: dir}
	played, err := runner.Play(ctx, blocks)
	if err != nil {
		return false, err
	}
	if k.rewriteScripts {
		return true, os.WriteFile(file, []byte(transcript.Format(played)), 0o644)
	}
	same := true
	for i := range blocks {
		if changes := probe.DiffText(blocks[i].Want, played[i].Want); changes != "" {
			same = false
			fmt.Fprintf(k.out, "%s:%d: %s\n%s\n", file, blocks[i].Line, blocks[i].Command, changes)
		}
	}
	return same, nil
}
