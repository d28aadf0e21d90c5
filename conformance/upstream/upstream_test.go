package upstream

import (
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// passedMin is the number of client-go's tests that must pass in all packages together. Subtests do not count.
const passedMin = 161

// testsMin is the number of tests that must be extracted from each package: fewer mean that the extraction is broken.
var testsMin = map[string]int{
	"k8s.io/client-go/tools/cache":    140,
	"k8s.io/client-go/util/workqueue": 21,
}

// TestUpstreamTestsPass runs client-go's own tests against the drop-in packages. All extracted tests must pass.
func TestUpstreamTestsPass(t *testing.T) {
	passed := 0
	for _, target := range Targets() {
		x, err := Extract(target)
		if err != nil {
			t.Fatal(err)
		}
		if len(x.Tests) < testsMin[target.ImportPath] {
			t.Errorf("%s: extracted %d tests, want at least %d; skipped: %v",
				target.ImportPath, len(x.Tests), testsMin[target.ImportPath], x.LeftOut)
		}
		result, err := Run(x, ".", nil, nil)
		if err != nil {
			t.Fatal(err)
		}
		if result.Broken != "" {
			t.Errorf("%s: %s", target.ImportPath, result.Broken)
		}
		for _, name := range slices.Sorted(maps.Keys(result.Failed)) {
			t.Errorf("%s: %s fails; run it with: go run ./cmd/upstreamtests -run '^%s$'\n%s",
				target.ImportPath, name, name, result.Failed[name])
		}
		t.Logf("%s: %d of %d tests passed, with subtests %d", target.ImportPath, len(result.Passed), len(x.Tests), result.PassedWithSubtests)
		passed += len(result.Passed)
	}
	if passed < passedMin {
		t.Errorf("%d tests passed, want at least %d", passed, passedMin)
	}
}

// TestNothingIsKept checks that no test of client-go is copied here.
func TestNothingIsKept(t *testing.T) {
	for _, target := range Targets() {
		if _, err := os.Stat(target.Dir); err == nil {
			t.Errorf("%s exists, but is for the overlay only", target.Dir)
		}
	}
}

// TestExtractionTellsWhatFails breaks one test's expectation: a run that does not notice proves nothing.
func TestExtractionTellsWhatFails(t *testing.T) {
	target := Targets()[1]
	x, err := Extract(target)
	if err != nil {
		t.Fatal(err)
	}
	for name, source := range x.Files {
		x.Files[name] = []byte(strings.ReplaceAll(string(source), "e, a := 1, q.Len()", "e, a := 7, q.Len()"))
	}
	result, err := Run(x, ".", nil, []string{"-test.run=^TestLen$"})
	if err != nil {
		t.Fatal(err)
	}
	if _, failed := result.Failed["TestLen"]; !failed {
		t.Errorf("TestLen was made to fail and passed: %+v", result)
	}
}
