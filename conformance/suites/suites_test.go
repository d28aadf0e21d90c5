package suites

import (
	"slices"
	"strings"
	"testing"
	"time"
)

const ginkgoReport = `[{"SpecReports":[
 {"LeafNodeType":"BeforeSuite","State":"passed"},
 {"ContainerHierarchyTexts":["Client","Create"],"LeafNodeType":"It","LeafNodeText":"should create","State":"passed"},
 {"ContainerHierarchyTexts":["Client"],"LeafNodeType":"It","LeafNodeText":"should fail","State":"failed","Failure":{"Message":"Expected\n    false\nto be true"}},
 {"ContainerHierarchyTexts":["Client"],"LeafNodeType":"It","LeafNodeText":"should wait","State":"pending"},
 {"LeafNodeType":"AfterSuite","State":"panicked"}]}]`

func TestGinkgo(t *testing.T) {
	specs, err := parseGinkgo([]byte(ginkgoReport))
	if err != nil {
		t.Fatal(err)
	}
	r := Report{Specs: specs, Took: time.Second, Processor: time.Minute}
	if got, want := r.Count(), (Count{Passed: 1, Failed: 2, Skipped: 1, Took: time.Second, Processor: time.Minute}); got != want {
		t.Errorf("the count is %v, want %v", got, want)
	}
	failed := r.Failed()
	if len(failed) != 2 || failed[0].Name != "Client / It should fail" || failed[0].Why != "Expected false to be true" || failed[1].Name != "AfterSuite" {
		t.Errorf("%+v failed", failed)
	}
	known, err := parseKnown("f", "# a comment\np/pkg/a: Client / It should fail\n  because\n\np/pkg/a: Client / Create / It should create\n  because\n")
	if err != nil {
		t.Fatal(err)
	}
	if known["p/pkg/a"][failed[0].Name] != "because" || known["p/pkg/b"][failed[0].Name] != "" {
		t.Errorf("known are %v", known)
	}
	if got := known["p/pkg/a"].Passing(r); !slices.Equal(got, []string{"Client / Create / It should create"}) {
		t.Errorf("%q pass", got)
	}
}

// goTests is what go test -json says of a test that passes, one with a subtest that fails, one that fails beside its subtest, one
// that is skipped, and one that does not end.
const goTests = `{"Action":"start","Package":"p"}
{"Action":"run","Package":"p","Test":"TestA"}
{"Action":"pass","Package":"p","Test":"TestA","Elapsed":0.1}
{"Action":"run","Package":"p","Test":"TestB"}
{"Action":"run","Package":"p","Test":"TestB/x"}
{"Action":"run","Package":"p","Test":"TestB/y"}
{"Action":"output","Package":"p","Test":"TestB/y","Output":"=== RUN   TestB/y\n"}
{"Action":"output","Package":"p","Test":"TestB/y","Output":"a log\n"}
{"Action":"output","Package":"p","Test":"TestB/y","Output":"    b_test.go:7: \n"}
{"Action":"output","Package":"p","Test":"TestB/y","Output":"        no such thing\n"}
{"Action":"pass","Package":"p","Test":"TestB/x","Elapsed":0.1}
{"Action":"fail","Package":"p","Test":"TestB/y","Elapsed":0.1}
{"Action":"fail","Package":"p","Test":"TestB","Elapsed":0.1}
{"Action":"run","Package":"p","Test":"TestC"}
{"Action":"run","Package":"p","Test":"TestC/x"}
{"Action":"pass","Package":"p","Test":"TestC/x","Elapsed":0.1}
{"Action":"fail","Package":"p","Test":"TestC","Elapsed":0.1}
{"Action":"run","Package":"p","Test":"TestD"}
{"Action":"skip","Package":"p","Test":"TestD","Elapsed":0.1}
{"Action":"run","Package":"p","Test":"TestE"}
{"Action":"output","Package":"p","Output":"FAIL\n"}
{"Action":"fail","Package":"p","Elapsed":1.5}
`

func TestGoTests(t *testing.T) {
	specs, printed, err := parseEvents([]byte(goTests))
	if err != nil {
		t.Fatal(err)
	}
	want := []Spec{
		{Name: "TestA", State: "passed"},
		{Name: "TestB/x", State: "passed"},
		{Name: "TestB/y", State: "failed", Why: "b_test.go:7: no such thing"},
		{Name: "TestC", State: "failed"},
		{Name: "TestC/x", State: "passed"},
		{Name: "TestD", State: "skipped"},
		{Name: "TestE", State: "interrupted"},
	}
	if !slices.Equal(specs, want) {
		t.Errorf("the specs are\n%+v, want\n%+v", specs, want)
	}
	other := Report{Specs: []Spec{{Name: "TestA", State: "failed"}, {Name: "TestC", State: "failed"}, {Name: "TestE", State: "passed"}}}
	if got := (Report{Specs: specs}).Only(other); !slices.Equal(got, []Spec{want[2], want[6]}) {
		t.Errorf("only %+v fail here", got)
	}
	if !strings.HasSuffix(string(printed), "no such thing\nFAIL\n") {
		t.Errorf("%q was printed", printed)
	}
	if _, _, err := parseEvents([]byte("FAIL\n")); err == nil || !strings.Contains(err.Error(), "not what test2json writes") {
		t.Errorf("of something else it says %v", err)
	}
}

func TestKnownRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"  because\n":                     "f:1: a reason belongs below the name of a spec",
		"p/pkg/a: b\np/pkg/a: c\n  why\n": "f:2: the spec above has no reason",
		"p/pkg/a: b\n":                    "f: the last spec has no reason",
		"nonsense\n":                      "f:1: write it like",
	} {
		if _, err := parseKnown("f", text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
}

func TestSelect(t *testing.T) {
	projects := func() []Project {
		return []Project{
			{Name: "a", Path: "example.com/a", Version: "v1", Packages: []string{"x", "y/z"}},
			{Name: "b", Path: "example.com/b", Version: "v1", Packages: []string{"x"}},
		}
	}
	for _, c := range []struct {
		module, args string
		want         string // PATH@VERSION:PACKAGE,PACKAGE of each
		err          string
	}{
		{want: "example.com/a@v1:x,y/z example.com/b@v1:x"},
		{args: "b", want: "example.com/b@v1:x"},
		{args: "b a/w/ a", want: "example.com/b@v1:x example.com/a@v1:w,x,y/z"},
		{module: "example.com/a@v2", want: "example.com/a@v2:x,y/z"},
		{module: "example.com/a@v2", args: "a/w", want: "example.com/a@v2:w"},
		{module: "example.com/c/v3@v3.1.0", args: "c/w", want: "example.com/c/v3@v3.1.0:w"},
		{module: "example.com/c@v1", err: "name them like c/pkg/controllers"},
		{module: "example.com/c", err: "a module is written MODULE@VERSION"},
		{module: "example.com/a@v2", args: "b", err: `"b": no such project; there are a`},
		{args: "pkg/client", err: `"pkg/client": no such project; there are a, b`},
	} {
		selected, err := Select(projects(), c.module, strings.Fields(c.args))
		var got []string
		for _, p := range selected {
			got = append(got, p.Path+"@"+p.Version+":"+strings.Join(p.Packages, ","))
		}
		if s := strings.Join(got, " "); s != c.want || (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%q of %q: %s, %v; want %s, %s", c.args, c.module, s, err, c.want, c.err)
		}
	}
}
