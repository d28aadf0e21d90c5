package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/conformance/suites"
)

// suiteSettings holds the flags of the suites command.
type suiteSettings struct {
	*settings
	module, assets, known string
}

func suitesCommand(s *settings) *cobra.Command {
	u := &suiteSettings{settings: s}
	c := &cobra.Command{
		Use:   "suites [PACKAGE...]",
		Short: "Run controller-runtime's own suites, which use envtest, on what `informersim assets` writes",
		Long: `suites takes the source of a module from the module cache, and runs the test suites of some of its packages, unchanged, with
KUBEBUILDER_ASSETS naming the programs of informersim assets. It prints the specs that passed and failed per package.

It fails if a spec fails that is not in the file of --known, or if one passes that is.`,
		Example: `  go run . suites
  go run . suites pkg/client pkg/webhook
  go run . suites --assets "$(setup-envtest use -p path)"   on a real apiserver`,
		RunE: func(c *cobra.Command, packages []string) error { return u.main(c.Context(), packages) },
	}
	f := c.Flags()
	f.StringVar(&u.module, "module", "sigs.k8s.io/controller-runtime@v0.25.2", "the module and its version")
	f.StringVar(&u.assets, "assets", "", "the folder with kube-apiserver, etcd and kubectl (default: informersim is built, and writes them)")
	f.StringVar(&u.known, "known", filepath.Join("testdata", "suites", "known.txt"), "the file with the specs that fail, and why")
	return c
}

func (u *suiteSettings) main(ctx context.Context, packages []string) error {
	known, err := suites.ReadKnown(u.known)
	if err != nil {
		return fmt.Errorf("--known: %w", err)
	}
	dir, err := os.MkdirTemp("", "informersim-suites-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if u.assets == "" {
		if u.assets, err = buildAssets(ctx, dir); err != nil {
			return err
		}
	}
	source, err := suites.Copy(ctx, u.module, filepath.Join(dir, "module"))
	if err != nil {
		return err
	}
	if len(packages) == 0 {
		packages = suites.Packages
	}
	var total suites.Count
	var wrong []string
	for _, p := range packages {
		began := time.Now()
		report, err := suites.Run(ctx, source, p, u.assets)
		if err != nil {
			if ctx.Err() != nil {
				return ctx.Err()
			}
			fmt.Fprintf(u.out, "%s: %v\n", p, err)
			wrong = append(wrong, p)
			continue
		}
		count := report.Count()
		total.Add(count)
		fmt.Fprintf(u.out, "%-34s %s in %s\n", p, count, time.Since(began).Round(100*time.Millisecond))
		for _, s := range report.Failed() {
			reason := known.Reason(p, s.Name())
			if reason == "" {
				reason = "NOT KNOWN: " + s.Why()
				wrong = append(wrong, p+": "+s.Name())
			}
			fmt.Fprintf(u.out, "  %s\n    %s\n", s.Name(), reason)
		}
		for _, name := range known.Passing(p, report) {
			fmt.Fprintf(u.out, "  %s\n    passes, and is in %s\n", name, u.known)
			wrong = append(wrong, p+": "+name)
		}
	}
	fmt.Fprintf(u.out, "%d packages, %s; %d not as expected\n", len(packages), total, len(wrong))
	if len(wrong) > 0 {
		return differ{len(wrong)}
	}
	return nil
}

// buildAssets builds both commands and has informersim write envtest's programs.
func buildAssets(ctx context.Context, dir string) (string, error) {
	build := exec.CommandContext(ctx, "go", "build", "-o", dir+string(filepath.Separator),
		"github.com/informersim/informersim/cmd/informersim", "github.com/informersim/informersim/cmd/informersim-apiserver")
	build.Dir = ".." // what this module requires need not be what the commands are built with
	if output, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("%s: %w\n%s", build, err, output)
	}
	write := exec.CommandContext(ctx, filepath.Join(dir, "informersim"), "assets", filepath.Join(dir, "assets"))
	write.Env = append(os.Environ(), "INFORMERSIM_APISERVER="+filepath.Join(dir, "informersim-apiserver"))
	write.Stderr = os.Stderr
	output, err := write.Output()
	if err != nil {
		return "", fmt.Errorf("%s: %w", write, err)
	}
	return strings.TrimSpace(string(output)), nil
}
