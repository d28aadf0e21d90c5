package simtest

import (
	"slices"
	"testing"
)

// The test that runs Ginkgo's specs is told from the stacks of all goroutines: it waits in RunSpecs.
func TestSuiteOfStacks(t *testing.T) {
	const stack = "goroutine 7 [select]:\ngithub.com/onsi/ginkgo/v2/internal.(*Suite).runNode(0xc0001)\n\t/go/suite.go:1\n" +
		"github.com/onsi/ginkgo/v2.RunSpecs({0x1, 0x2}, {0x3, 0x4}, {0x0, 0x0, 0x0})\n\t/go/core_dsl.go:300 +0x1\n" +
		"example.org/web_test.TestWeb(0xc0002)\n\t/src/web_test.go:12 +0x2\ntesting.tRunner(0xc0002, 0x5)\n"
	if got := suiteOf("goroutine 1 [running]:\nmain.main()\n\t/main.go:1\n\n" + stack); got != "TestWeb" {
		t.Errorf("the test is %q", got)
	}
	if got := suiteOf("goroutine 1 [running]:\nmain.main()\n\t/main.go:1\n"); got != "" {
		t.Errorf("without specs, the test is %q", got)
	}
}

// Another process for one spec has the flags of this one, but for those that say which specs are run, and where reports are written.
func TestSpecArgs(t *testing.T) {
	got := workerArgs(withoutSelection([]string{"-test.timeout=1m", "-ginkgo.focus", "web", "--ginkgo.parallel.total=4", "-ginkgo.v", "-ginkgo.junit-report=out.xml"}), 0, "^TestWeb$")
	want := []string{"-test.timeout=1m", "-ginkgo.v", "-test.run=^TestWeb$"}
	if len(got) < 3 || !slices.Equal(got[:3], want) {
		t.Errorf("the arguments are %q, want %q first", got, want)
	}
}
