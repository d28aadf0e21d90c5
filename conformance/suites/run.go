package suites

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
)

// Packages are those of controller-runtime whose suites start a control plane, and those of what starts it. Without pkg/client/apiutil,
// whose tests download a real one.
var Packages = []string{
	"pkg/client", "pkg/cache", "pkg/manager", "pkg/manager/internal/integration", "pkg/controller",
	"pkg/controller/controllerutil", "pkg/builder", "pkg/cluster", "pkg/source", "pkg/handler", "pkg/reconcile", "pkg/webhook", "pkg/envtest",
	"pkg/metrics/filters", "pkg/internal/controller", "pkg/internal/recorder", "pkg/internal/testing/controlplane",
}

// Copy copies a module from the module cache, where nothing may be written, and returns the folder.
func Copy(ctx context.Context, module, dir string) (string, error) {
	cmd := exec.CommandContext(ctx, "go", "mod", "download", "-json", module)
	cmd.Dir = os.TempDir() // of no module
	output, err := cmd.Output()
	var info struct{ Dir, Error string }
	if jsonErr := json.Unmarshal(output, &info); err != nil || jsonErr != nil || info.Dir == "" {
		return "", fmt.Errorf("%s: %w %s", cmd, errors.Join(err, jsonErr), info.Error)
	}
	if err := os.CopyFS(dir, os.DirFS(info.Dir)); err != nil {
		return "", err
	}
	return dir, filepath.WalkDir(dir, func(path string, _ fs.DirEntry, err error) error {
		if err == nil && filepath.Ext(path) == ".sh" { // modules have no executable files
			err = os.Chmod(path, 0o755)
		}
		return err
	})
}

// Report is what Ginkgo says of the suites of a package.
type Report []struct {
	SpecReports []Spec
}

// Spec is a spec, or a node like BeforeSuite, which has a name only if it failed.
type Spec struct {
	ContainerHierarchyTexts           []string
	LeafNodeType, LeafNodeText, State string
	Failure                           struct{ Message string }
}

// Name is the full name of a spec, and the type of another node.
func (s Spec) Name() string {
	return strings.Join(append(append([]string{}, s.ContainerHierarchyTexts...), strings.TrimSpace(s.LeafNodeType+" "+s.LeafNodeText)), " / ")
}

// Why is the first line of what a failed spec says, as far as it fits a line.
func (s Spec) Why() string {
	lines := strings.Fields(s.Failure.Message)
	why := strings.Join(lines, " ")
	if len(why) > 300 {
		why = why[:300] + "…"
	}
	return why
}

// Run runs the suites of a package with the programs in the folder assets.
func Run(ctx context.Context, source, pkg, assets string) (Report, error) {
	file := filepath.Join(source, "report.json")
	if err := os.Remove(file); err != nil && !errors.Is(err, os.ErrNotExist) {
		return nil, err
	}
	cmd := exec.CommandContext(ctx, "go", "test", "-count=1", "-timeout=15m", "./"+pkg, "-ginkgo.json-report="+file, "-ginkgo.no-color")
	cmd.Dir = source
	cmd.Env = append(os.Environ(), "KUBEBUILDER_ASSETS="+assets, "GOWORK=off", "GOFLAGS=-mod=mod")
	output, testErr := cmd.CombinedOutput()
	data, err := os.ReadFile(file)
	if err != nil {
		return nil, fmt.Errorf("%s wrote no report: %w\n%s", cmd, testErr, bytes.TrimSpace(output[max(0, len(output)-2000):]))
	}
	var report Report
	if err := json.Unmarshal(data, &report); err != nil {
		return nil, err
	}
	if testErr != nil && len(report.Failed()) == 0 { // a test outside of Ginkgo
		return nil, fmt.Errorf("%s: %w\n%s", cmd, testErr, bytes.TrimSpace(output[max(0, len(output)-4000):]))
	}
	return report, nil
}

// Count counts specs.
type Count struct{ Passed, Failed, Skipped int }

func (c Count) String() string {
	return fmt.Sprintf("%4d passed, %d failed, %d skipped", c.Passed, c.Failed, c.Skipped)
}

// Add adds another count.
func (c *Count) Add(o Count) {
	c.Passed, c.Failed, c.Skipped = c.Passed+o.Passed, c.Failed+o.Failed, c.Skipped+o.Skipped
}

// Count counts the specs of a report, and the other nodes that failed.
func (r Report) Count() Count {
	var c Count
	for _, suite := range r {
		for _, s := range suite.SpecReports {
			switch {
			case s.failed():
				c.Failed++
			case s.LeafNodeType != "It":
			case s.State == "passed":
				c.Passed++
			default: // pending, or skipped because another node failed
				c.Skipped++
			}
		}
	}
	return c
}

// failed reports whether a node ended in any way but a good one: "failed", "panicked", "interrupted", "timedout", "aborted".
func (s Spec) failed() bool {
	return s.State != "passed" && s.State != "pending" && s.State != "skipped"
}

// Failed returns what failed.
func (r Report) Failed() []Spec {
	var failed []Spec
	for _, suite := range r {
		for _, s := range suite.SpecReports {
			if s.failed() {
				failed = append(failed, s)
			}
		}
	}
	return failed
}
