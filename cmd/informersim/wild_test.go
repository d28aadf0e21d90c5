package main

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Bad input is refused before anything is built.
func TestWildRefuses(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--seeds -1", "--seeds -1"},
		{"--for -1s", "--for -1s is negative"},
		{"--shard 3/2", "--shard"},
		{"--shard", "flag needs an argument"},
		{"--traces", "flag needs an argument"},
		{"--traces=", "--traces is given without a value"},
		{"--traces wild_test.go/x", "--traces: mkdir "},
		{"nothing/TestJob", `no test is meant by ["nothing/TestJob"]`},
	} {
		var out, errs bytes.Buffer
		if code := run(t.Context(), append([]string{"wild"}, strings.Fields(c.args)...), &out, &errs); code != exitBadInput || !strings.Contains(errs.String(), c.want) {
			t.Errorf("wild %s: exit code %d and %q, want %d and %q", c.args, code, errs.String(), exitBadInput, c.want)
		}
	}
	t.Chdir(t.TempDir())
	var out, errs bytes.Buffer
	if code := run(t.Context(), []string{"wild"}, &out, &errs); code != exitBadInput || !strings.Contains(errs.String(), "not in a clone") {
		t.Errorf("outside a clone: exit code %d and %q", code, errs.String())
	}
}

// A module of tests that print what those of controllers do: one holds, one shows a known bug, one fails.
func TestWildReadsTests(t *testing.T) {
	if testing.Short() {
		t.Skip("the go command reads and builds tests for it")
	}
	root := t.TempDir()
	for name, text := range map[string]string{ // order: of writing files that know nothing of each other
		"../go.mod":         "module github.com/informersim/informersim\n\ngo 1.26\n",
		"example/go.mod":    "module example\n\ngo 1.26\n",
		"example/a.go":      "package example\n",
		"example/a_test.go": wildExample,
		"example/b_test.go": "package example_test\n\nimport (\n\t\"os\"\n\t\"testing\"\n)\n\nfunc TestMain(m *testing.M) { os.Exit(m.Run()) }\n\n" +
			"type x struct{}\n\nfunc (x) TestMethod(*testing.T) {}\n",
		"example/c_plan9_test.go": "package example\n\nimport \"testing\"\n\nfunc TestElsewhere(*testing.T) {}\n",
		"other/go.mod":            "module other\n\ngo 1.26\n",
		"other/bad_test.go":       "package other\n\nimport \"testing\"\n\nfunc TestBad(t *testing.T) { undefined() }\n",
		"other/bad.go":            "this does not compile, and nobody asks for it",
	} {
		file := filepath.Join(root, "wild", filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	t.Chdir(root)
	for _, c := range []struct {
		args string
		code int
		want string
	}{
		{"example/", exitBroken, `
controller and test    seeds    virtual  after faults    faults  found
example/TestHolds         40        21m           37s       855  nothing
example/TestKnown                                                a known bug, with seed 3, 12 steps, 1 faults
example/TestBreaks                                               SOMETHING NEW, or a known bug is gone:
  its trace is in ROOT/wild/example/testdata/simtest/TestBreaks-1.trace.jsonl
=== RUN   TestBreaks
`},
		{"example/TestKnown --traces fo'und", exitOK, `
controller and test    seeds    virtual  after faults    faults  found
example/TestKnown                                                a known bug, with seed 3, 12 steps, 1 faults
  its trace is in ROOT/fo'und/example/TestKnown-3.trace.jsonl
`},
		{"example/TestBreaks --traces found", exitBroken, `
controller and test    seeds    virtual  after faults    faults  found
example/TestBreaks                                               SOMETHING NEW, or a known bug is gone:
  its trace is in ROOT/found/example/Test Breaks-1.trace.jsonl
=== RUN   TestBreaks
`},
		{"example/ --shard 2/3", exitOK, `
controller and test    seeds    virtual  after faults    faults  found
example/TestKnown                                                a known bug, with seed 3, 12 steps, 1 faults
`},
		{"example/TestHolds --seeds 500", exitOK, `
controller and test    seeds    virtual  after faults    faults  found
example/TestHolds        500        21m           37s       855  nothing
`},
		{"TestHolds --seeds 500", exitOK, `
controller and test    seeds    virtual  after faults    faults  found
example/TestHolds        500        21m           37s       855  nothing
`},
		{"other/", exitBadInput, `
controller and test    seeds    virtual  after faults    faults  found
`},
		{"example/TestHolds --for 1ns", exitOK, "\nthe time of --for 1ns is up; what was running is not counted\n"},
	} {
		var out, errs bytes.Buffer
		code := run(t.Context(), append([]string{"wild"}, strings.Fields(c.args)...), &out, &errs)
		if code != c.code || !strings.HasPrefix("\n"+out.String(), strings.ReplaceAll(c.want, "ROOT", root)) {
			t.Errorf("wild %s: exit code %d and\n%s%s, want %d and%s", c.args, code, out.String(), errs.String(), c.code, c.want)
		}
	}
}

// A test that the end of --for stops leaves nothing.
func TestWildForgetsWhatTheTimeCutsOff(t *testing.T) {
	t.Chdir(t.TempDir())
	dir, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"TestX-3.trace.jsonl", "TestX-3.html", "TestX-30.trace.jsonl"} {
		if err := os.WriteFile(name, nil, 0o666); err != nil {
			t.Fatal(err)
		}
	}
	forgetCut("=== RUN   TestX\n\nsimtest: the process died during a run: TestX, seed 3\n  it had taken 41 steps (7s of virtual time)\n" +
		"  the trace so far is in " + filepath.Join(dir, "TestX-3.trace.jsonl") + "\n\n  see it again\n")
	left, err := os.ReadDir(".")
	if err != nil || len(left) != 1 || left[0].Name() != "TestX-30.trace.jsonl" {
		t.Errorf("%v are left: %v", left, err)
	}
}

const wildExample = `package example

import (
	"flag"
	"testing"
)

var (
	seeds  = flag.Int("simtest.seeds", 40, "")
	traces = flag.String("simtest.traces", "", "")
)

func TestHolds(t *testing.T) {
	t.Logf("simtest: %d seeds, 855 faults (list-slow 111, and 43 other kinds), 21m of virtual time and 37s after the faults had stopped, \"it\" in 3, nothing found; more: -simtest.seeds=500", *seeds)
}

func TestKnown(t *testing.T) {
	if *traces != "" {
		t.Logf("simtest: the finding's trace is in %s/TestKnown-3.trace.jsonl\n  see it again\n    go test example -run '^TestKnown$' -simtest.replay='x'", *traces)
	}
	t.Logf("found with seed 3, 12 steps, 1 faults: it is broken")
}

func TestBreaks(t *testing.T) {
	t.Log("simtest: before this failure: 7 seeds, 12 faults (list-slow 12), 1h of virtual time, nothing found")
	trace := "testdata/simtest/TestBreaks-1.trace.jsonl"
	if *traces != "" {
		trace = "'" + *traces + "/Test Breaks-1.trace.jsonl'"
	}
	t.Errorf("FAIL\n\n  see it again\n    go test example -run '^TestBreaks$' -simtest.replay=%s\n    go test example -run '^TestBreaks$' -simtest.seed=1", trace)
}
`
