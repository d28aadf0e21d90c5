package suites

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"
)

const ginkgoReport = `[{"SpecReports":[
 {"LeafNodeType":"BeforeSuite","State":"passed"},
 {"ContainerHierarchyTexts":["Client","Create"],"LeafNodeType":"It","LeafNodeText":"should create","State":"passed"},
 {"ContainerHierarchyTexts":["Client"],"LeafNodeType":"It","LeafNodeText":"should fail","State":"failed","Failure":{"Message":"Expected\n    false\nto be true"}},
 {"ContainerHierarchyTexts":["Client"],"LeafNodeType":"It","LeafNodeText":"should wait","State":"pending"},
 {"LeafNodeType":"AfterSuite","State":"panicked"}]}]`

func TestReport(t *testing.T) {
	var r Report
	if err := json.Unmarshal([]byte(ginkgoReport), &r); err != nil {
		t.Fatal(err)
	}
	if got, want := r.Count(), (Count{Passed: 1, Failed: 2, Skipped: 1}); got != want {
		t.Errorf("the count is %v, want %v", got, want)
	}
	failed := r.Failed()
	if len(failed) != 2 || failed[0].Name() != "Client / It should fail" || failed[0].Why() != "Expected false to be true" || failed[1].Name() != "AfterSuite" {
		t.Errorf("%+v failed", failed)
	}
	known, err := parseKnown("f", "# a comment\npkg/a: Client / It should fail\n  because\n\npkg/a: Client / Create / It should create\n  because\n")
	if err != nil {
		t.Fatal(err)
	}
	if known.Reason("pkg/a", failed[0].Name()) != "because" || known.Reason("pkg/b", failed[0].Name()) != "" {
		t.Errorf("known are %v", known)
	}
	if got := known.Passing("pkg/a", r); !slices.Equal(got, []string{"Client / Create / It should create"}) {
		t.Errorf("%q pass", got)
	}
}

func TestKnownRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"  because\n":                 "f:1: a reason belongs below the name of a spec",
		"pkg/a: b\npkg/a: c\n  why\n": "f:2: the spec above has no reason",
		"pkg/a: b\n":                  "f: the last spec has no reason",
		"nonsense\n":                  "f:1: write it like",
	} {
		if _, err := parseKnown("f", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}
