package ginkgosuite_test

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// A user's module: two scenarios, one of which expects what is not so, and a rapid test.
var userModule = map[string]string{
	"sims/fine.sim": `# A pod is created while the informer watches.
resource pods
informer i1 pods handlers=h1
settle
create pods default/a
settle
expect i1 converged count=1
`,
	"sims/wrong.sim": `# Two pods are expected, and there is one (k115658).
resource pods
create pods default/a
informer i1 pods handlers=h1
fault i1 watch=eof
settle
expect i1 converged count=2
`,
	"suite_test.go": `package mine

import (
	"context"
	"testing"

	"github.com/onsi/ginkgo/v2"
	"github.com/onsi/gomega"
	"pgregory.net/rapid"

	"github.com/informersim/informersim/properties"
	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/scenarios/generate/rapidgen"
	"github.com/informersim/informersim/scenarios/ginkgosuite"
	"github.com/informersim/informersim/subjects/clientgo"
)

var _ = ginkgosuite.Register("sims/*.sim", ginkgosuite.Options{})

func TestSuite(t *testing.T) {
	gomega.RegisterFailHandler(ginkgo.Fail)
	ginkgo.RunSpecs(t, "mine")
}

func TestRapid(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := rapidgen.Scenario("worker").Draw(t, "scenario")
		res, err := scenarios.Run(context.Background(), s, scenarios.Options{Subject: clientgo.Kind, Seed: 1, Properties: properties.All()})
		if err != nil {
			t.Fatal(err)
		}
		if !res.Passed() {
			t.Fatal(res.Violation)
		}
	})
}
`,
}

var moduleLine = regexp.MustCompile(`(?m)^module .*$`)

// In a module of its own, offline: what is required comes from the module cache. A spec that fails has its trace and the line that
// replays it as report entries, and JUnit has them, too.
func TestInAModuleOfItsOwn(t *testing.T) {
	if testing.Short() {
		t.Skip("it builds a user's module")
	}
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	files := map[string]string{}
	for name, text := range userModule { // order: files of their own
		files[name] = text
	}
	for _, name := range []string{"go.mod", "go.sum"} {
		text, err := os.ReadFile(filepath.Join(root, name))
		if err != nil {
			t.Fatal(err)
		}
		files[name] = string(text)
	}
	// As go mod tidy would leave it, which needs a network for the tests of what is required.
	files["go.mod"] = moduleLine.ReplaceAllString(files["go.mod"], "module example.com/mine") +
		"\nrequire github.com/informersim/informersim v0.0.0\n\nreplace github.com/informersim/informersim => " + root + "\n"
	for name, text := range files { // order: as above
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	command := func(name string, args ...string) (string, error) {
		cmd := exec.Command(name, args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
		out, err := cmd.CombinedOutput()
		return string(out), err
	}

	const suite = "./mine.test" // linked once: go test would do so each time
	if out, err := command("go", "test", "-c", "-o", suite, "."); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	out, err := command(suite, "-test.run=^TestSuite$", "-ginkgo.junit-report=report.xml", "-ginkgo.no-color")
	if err == nil {
		t.Fatalf("the wrong expectation passes:\n%s", out)
	}
	trace := filepath.Join("testdata", "informersim", "wrong-client-go-seed1.trace.jsonl")
	for _, want := range []string{
		"2 Passed | 2 Failed", "sims/wrong.sim:7:", "informer i1 holds 1 objects, want 2", "[watch-eof, k115658, client-go]", "informersim replay " + trace, "informersim report " + trace,
	} {
		if !strings.Contains(out, want) {
			t.Errorf("%q is missing in\n%s", want, out)
		}
	}
	text, err := os.ReadFile(filepath.Join(dir, trace))
	if err != nil || !bytes.Contains(text, []byte("expect i1 converged count=2")) {
		t.Errorf("the trace: %v", err)
	}
	report, err := os.ReadFile(filepath.Join(dir, "report.xml"))
	if err != nil || strings.Count(string(report), "<testcase ") != 4 || !bytes.Contains(report, []byte("informersim replay "+trace)) {
		t.Errorf("JUnit: %v\n%s", err, report)
	}

	if out, err := command(suite, "-test.run=^TestSuite$", "-ginkgo.label-filter=!k115658"); err != nil {
		t.Errorf("without the spec that fails: %v\n%s", err, out)
	}
	if out, err := command(suite, "-test.run=^TestRapid$", "-rapid.checks=20"); err != nil {
		t.Errorf("rapid: %v\n%s", err, out)
	}
	packages, err := command("go", "list", "-deps", "-test", ".")
	if n := strings.Count(packages, "\n"); err != nil || n > 520 {
		t.Errorf("a user's test compiles %d packages, %v; want at most 520", n, err)
	} else {
		t.Logf("a user's test compiles %d packages", n)
	}
}
