package nested

import (
	"context"
	"io/fs"
	"maps"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"
)

// modules are the nested modules, in the order of their tests, with the flags of go test. Those that are tested here have the Kubernetes of the root
// or of simtest: a clone's first `go test ./...` compiles two releases of it and no more.
var modules = []struct {
	folder    string
	elsewhere string // why only `.ci/run modules` tests it, or another section
	flags     []string
}{
	{folder: "simtest", flags: []string{"-short", "-skip=" + manyRuns}}, // .ci/run repeat has them all
	{folder: "examples/service-controller", flags: []string{"-run=^TestServiceController$", "-simtest.seeds=5"}},
	{folder: "conformance", elsewhere: "it builds a real apiserver"},
	{folder: "conformance/upstream", elsewhere: "client-go's own tests"},
	{folder: "examples/first-test", elsewhere: "client-go v0.34"},
	{folder: "examples/controller-runtime", elsewhere: "client-go v0.31"},
	{folder: "examples/network-controller", elsewhere: "client-go v0.31"},
	{folder: "examples/sealed-secrets", elsewhere: "client-go v0.31"},
	{folder: "examples/volume-provisioner", elsewhere: "client-go v0.34"},
	{folder: "simtest/frameworks", elsewhere: "a minute of processor"},
	{folder: "simtest/versions/clientgo", elsewhere: "the newest client-go, too, is tested there"},
	{folder: "simtest/versions/controllerruntime", elsewhere: "client-go v0.28"},
	{folder: "wild/actions-runner-controller", elsewhere: ".ci/run wild"},
	{folder: "wild/agent-sandbox", elsewhere: ".ci/run wild"},
	{folder: "wild/argo-rollouts", elsewhere: ".ci/run wild"},
	{folder: "wild/cert-manager", elsewhere: ".ci/run wild"},
	{folder: "wild/cloud-provider", elsewhere: ".ci/run wild"},
	{folder: "wild/cluster-api", elsewhere: ".ci/run wild"},
	{folder: "wild/controller-runtime", elsewhere: ".ci/run wild"},
	{folder: "wild/external-attacher", elsewhere: ".ci/run wild"},
	{folder: "wild/external-provisioner", elsewhere: ".ci/run wild"},
	{folder: "wild/external-resizer", elsewhere: ".ci/run wild"},
	{folder: "wild/external-secrets", elsewhere: ".ci/run wild"},
	{folder: "wild/external-snapshotter", elsewhere: ".ci/run wild"},
	{folder: "wild/jobset", elsewhere: ".ci/run wild"},
	{folder: "wild/karpenter", elsewhere: ".ci/run wild"},
	{folder: "wild/kuberay", elsewhere: ".ci/run wild"},
	{folder: "wild/kubernetes", elsewhere: ".ci/run wild: minutes"},
	{folder: "wild/kueue", elsewhere: ".ci/run wild"},
	{folder: "wild/lws", elsewhere: ".ci/run wild"},
	{folder: "wild/mpi-operator", elsewhere: ".ci/run wild"},
	{folder: "wild/prometheus-operator", elsewhere: ".ci/run wild"},
	{folder: "wild/rabbitmq", elsewhere: ".ci/run wild"},
	{folder: "wild/tekton", elsewhere: ".ci/run wild"},
	{folder: "wild/trust-manager", elsewhere: ".ci/run wild"},
}

const root = "../.."

// manyRuns are simtest's tests of ready-made properties, and of making failures simpler, which are most of the time.
const manyRuns = "^Test(No[A-Z]|Backoff|Broken|Faults|Garbage|Hot|Hopeless|Many|Mix|Mutated|Next|Quiet|RateLimiter|SecondRun|Shrink|Swallowed|Timed|Update|WellBehaved[NT]|Writes)"

// spare is what is left of a test's time for what it has to say about having no more.
const spare = 20 * time.Second

// TestNestedModules runs the tests of nested modules. They build the engine of this working copy, and find it in the user's cache the next time.
func TestNestedModules(t *testing.T) {
	found := readSources(t)
	for _, m := range modules {
		if !found[m.folder] {
			t.Errorf("there is no module %s", m.folder)
		}
		delete(found, m.folder)
	}
	for _, folder := range slices.Sorted(maps.Keys(found)) {
		t.Errorf("the module %s is missing in the table: is it tested here, or by .ci/run modules only?", folder)
	}
	if testing.Short() {
		t.Skip("it runs the tests of other modules")
	}
	ctx := t.Context()
	if end, limited := t.Deadline(); limited {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadline(ctx, end.Add(-spare))
		t.Cleanup(cancel)
	}
	for _, m := range modules {
		if m.elsewhere != "" {
			continue
		}
		t.Run(m.folder, func(t *testing.T) {
			t.Parallel() // a run of simtest's waits half of the time for the other one of its two processes
			args := []string{"test", "-C", filepath.Join(root, filepath.FromSlash(m.folder)), "-count=1", "-vet=off", "./..."}
			cmd := exec.CommandContext(ctx, "go", append(args, m.flags...)...)
			for _, v := range os.Environ() {
				if !strings.HasPrefix(v, "INFORMERSIM=") && !strings.HasPrefix(v, "SIMTEST_") {
					cmd.Env = append(cmd.Env, v)
				}
			}
			cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) } // the go command ends the test that it runs, too
			cmd.WaitDelay = spare / 2
			switch out, err := cmd.CombinedOutput(); {
			case err != nil && ctx.Err() != nil:
				t.Errorf("go %s did not end in the time that go test gives a package. If it was busy compiling, what has been compiled is kept: run go test ./... once more, or with -timeout 30m",
					strings.Join(cmd.Args[1:], " "))
			case err != nil:
				t.Errorf("go %s: %v\n%s", strings.Join(cmd.Args[1:], " "), err, out)
			}
		})
	}
}

// readSources returns the folders of nested modules. It reads every source file: the go command has a test's result in its cache until a file
// changes that the test has read, and it does not see what other processes read.
func readSources(t *testing.T) map[string]bool {
	t.Helper()
	found := map[string]bool{}
	err := fs.WalkDir(os.DirFS(root), ".", func(name string, d fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return err
		case d.IsDir() && name != "." && (strings.HasPrefix(d.Name(), ".") || d.Name() == "testdata"):
			return fs.SkipDir
		case d.IsDir():
			return nil
		case d.Name() == "go.mod" && path.Dir(name) != ".":
			found[path.Dir(name)] = true
		case path.Ext(name) != ".go" && d.Name() != "go.sum":
			return nil
		}
		_, err = os.ReadFile(filepath.Join(root, filepath.FromSlash(name)))
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return found
}
