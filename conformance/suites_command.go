package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/conformance/suites"
)

// suiteSettings holds the flags of the suites command.
type suiteSettings struct {
	*settings
	module, assets, beside, focus, known string
}

func suitesCommand(s *settings) *cobra.Command {
	u := &suiteSettings{settings: s}
	c := &cobra.Command{
		Use:   "suites [PROJECT | PROJECT/PACKAGE]...",
		Short: "Run suites that use envtest, of controller-runtime and of operators, on what `informersim assets` writes",
		Long: `suites takes the source of projects from the module cache, and runs the test suites of their packages, unchanged, with
KUBEBUILDER_ASSETS naming the programs of informersim assets. It prints the specs that passed and failed per package, and
how long its test program took. The projects are controller-runtime, karpenter, cluster-api and kro; without arguments it is all of them.

It fails if a spec fails that is not in the file of --known, or if one passes that is. With --beside it runs each suite on a second
control plane as well, prints what only one of them fails, and forgives what both do.`,
		Example: `  go run . suites
  go run . suites karpenter controller-runtime/pkg/client
  go run . suites --module sigs.k8s.io/karpenter@v1.13.0 karpenter/pkg/apis/v1
  go run . suites --assets DIR   on the kube-apiserver and etcd of that folder
  go run . suites --beside DIR   on informersim's, and then on those`,
		RunE: func(c *cobra.Command, args []string) error { return u.main(c.Context(), args) },
	}
	f := c.Flags()
	f.StringVar(&u.module, "module", "", "another version of a project, or another module: MODULE@VERSION")
	f.StringVar(&u.assets, "assets", "", "the folder with kube-apiserver, etcd and kubectl (default: informersim is built, and writes them)")
	f.StringVar(&u.beside, "beside", "", "a folder with other such programs: each suite runs on those, too")
	f.StringVar(&u.focus, "focus", "", "only specs whose names match this regular expression")
	f.StringVar(&u.known, "known", filepath.Join("testdata", "suites", "known.txt"), "the file with the specs that fail, and why")
	return c
}

func (u *suiteSettings) main(ctx context.Context, args []string) error {
	known, err := suites.ReadKnown(u.known)
	if err != nil {
		return fmt.Errorf("--known: %w", err)
	}
	projects, err := suites.Select(suites.Projects(), u.module, args)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "informersim-suites-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	if err := u.controlPlanes(ctx, dir); err != nil {
		return err
	}
	var total suites.Count
	wrong, packages := 0, 0
	for _, p := range projects {
		source, err := suites.Copy(ctx, p, filepath.Join(dir, p.Name))
		if err != nil {
			return err
		}
		for _, pkg := range p.Packages {
			count, w := u.run(ctx, p, source, pkg, known[p.Name+"/"+pkg])
			if ctx.Err() != nil {
				return ctx.Err()
			}
			total.Add(count)
			wrong += w
			packages++
		}
	}
	fmt.Fprintf(u.out, "%d packages, %s; %d not as expected\n", packages, total, wrong)
	if wrong > 0 {
		return differ{wrong}
	}
	return nil
}

// controlPlanes sees to it that the programs of control planes are there.
func (u *suiteSettings) controlPlanes(ctx context.Context, dir string) (err error) {
	for _, f := range []struct {
		flag   string
		folder *string
	}{{"--assets", &u.assets}, {"--beside", &u.beside}} {
		if *f.folder == "" {
			continue
		}
		if *f.folder, err = filepath.Abs(*f.folder); err != nil { // suites run in other folders
			return err
		}
		for _, program := range []string{"kube-apiserver", "etcd"} {
			if _, err := os.Stat(filepath.Join(*f.folder, program)); err != nil {
				return fmt.Errorf("%s: %w", f.flag, err)
			}
		}
	}
	if u.assets == "" {
		u.assets, err = buildAssets(ctx, dir)
	}
	return err
}

// run runs the suites of a package, some of whose specs are known to fail, and returns how many are not as expected.
func (u *suiteSettings) run(ctx context.Context, p suites.Project, source, pkg string, known suites.Reasons) (count suites.Count, wrong int) {
	name := p.Name + "/" + pkg
	program, err := suites.Build(ctx, p, source, pkg)
	var report suites.Report
	if err == nil {
		report, err = program.Run(ctx, suites.Options{Assets: u.assets, Focus: u.focus})
	}
	if err != nil {
		if ctx.Err() == nil {
			fmt.Fprintf(u.out, "%s: %v\n", name, err)
		}
		return count, 1
	}
	count = report.Count()
	fmt.Fprintf(u.out, "%-62s %s\n", name, count)
	failed := report.Failed()
	if u.beside != "" {
		other, err := program.Run(ctx, suites.Options{Assets: u.beside, Focus: u.focus})
		if err != nil {
			if ctx.Err() == nil {
				fmt.Fprintf(u.out, "  on %s: %v\n", u.beside, err)
			}
			return count, 1
		}
		fmt.Fprintf(u.out, "  %-60s %s\n", "on "+u.beside, other.Count())
		failed = report.Only(other)
		for _, s := range report.Failed() {
			if !slices.Contains(failed, s) {
				fmt.Fprintf(u.out, "  %s\n    fails on both: %s\n", s.Name, s.Why)
			}
		}
		for _, s := range other.Only(report) {
			fmt.Fprintf(u.out, "  %s\n    fails only on %s: %s\n", s.Name, u.beside, s.Why)
		}
	}
	for _, s := range failed {
		reason := known[s.Name]
		if reason == "" {
			reason = "NOT KNOWN: " + s.Why
			wrong++
		}
		fmt.Fprintf(u.out, "  %s\n    %s\n", s.Name, reason)
	}
	for _, s := range known.Passing(report) {
		fmt.Fprintf(u.out, "  %s\n    passes, and is in %s\n", s, u.known)
		wrong++
	}
	return count, wrong
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
