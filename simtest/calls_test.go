package simtest_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/informersim/informersim/simtest"
)

// A trace is replayed by the call of Run or Find that it is of. For the others of the test it is no sign that the program has changed, and it is not lost if there is no such call any more.
func TestTracesOfSecondRun(t *testing.T) {
	aside(t)
	if isChild() {
		body := func(broken bool) func(*simtest.Env) {
			return func(env *simtest.Env) {
				env.Create(configMap("a", ""))
				env.Always("all is well", func() error {
					if broken && env.Get(configMap("b", "")) == nil {
						return errors.New("it is not")
					}
					return nil
				})
				env.Settle()
				if broken {
					env.Create(configMap("b", ""))
				}
				env.Settle()
			}
		}
		o := simtest.Options{Seeds: 1, Mix: "none"}
		simtest.Run(t, o, body(false))
		if os.Getenv("SIMTEST_TEST_ONCE") == "" {
			simtest.Run(t, o, body(os.Getenv("SIMTEST_TEST_MENDED") == ""))
		}
		return
	}
	dir := t.TempDir()
	const lost = " is a trace of call 2 of simtest.Run or Find in this test, which has made 1: it has not been replayed"
	trace := filepath.Join("testdata", "simtest", t.Name()+"-run2-1.trace.jsonl")
	for _, test := range []struct {
		name  string
		env   []string
		fails bool
		says  []string
		never []string
	}{
		{"at first", nil, true, []string{"FAIL  all is well", "-simtest.replay=" + trace}, nil},
		{"its trace is there", nil, true, []string{"FAIL  all is well", "simtest: 1 seed, no faults"}, []string{"no longer fits", lost}},
		{"it is replayed", []string{"SIMTEST_REPLAY=" + trace}, true, []string{"FAIL  all is well"}, []string{"differs from this program", "passes now", lost}},
		{"it is mended", []string{"SIMTEST_TEST_MENDED=1"}, false, []string{"no longer fits the program"}, []string{lost}},
		{"there is no second call", []string{"SIMTEST_TEST_ONCE=1"}, false, []string{lost}, []string{"no longer fits"}},
		{"and it is replayed", []string{"SIMTEST_TEST_ONCE=1", "SIMTEST_REPLAY=" + trace}, true, []string{lost}, nil},
	} {
		out, err := childIn(t, dir, test.env...)
		if (err != nil) != test.fails {
			t.Errorf("%s: %v:\n%s", test.name, err, out)
		}
		wantIn(t, out, test.says...)
		for _, never := range test.never {
			if strings.Contains(out, never) {
				t.Errorf("%s: it says %q:\n%s", test.name, never, out)
			}
		}
	}
}

// Two Runs of a test that fail with one seed, the second once the first is mended, have a trace each: the later one does not take the place of the other.
func TestTracesOfTwoRuns(t *testing.T) {
	aside(t)
	if isChild() {
		for _, name := range []string{"first", "second"} {
			simtest.Run(t, simtest.Options{Seeds: 1, Mix: "none"}, func(env *simtest.Env) {
				env.Always("the "+name+" is well", func() error {
					if name == os.Getenv("SIMTEST_TEST_MENDED") {
						return nil
					}
					return errors.New("it is not")
				})
				env.Settle()
			})
		}
		return
	}
	dir := t.TempDir()
	for _, test := range []struct{ mended, fails, file string }{
		{"", "first", t.Name() + "-1.trace.jsonl"},
		{"first", "second", t.Name() + "-run2-1.trace.jsonl"},
	} {
		out, err := childIn(t, dir, "SIMTEST_TEST_MENDED="+test.mended)
		if err == nil {
			t.Fatalf("nothing fails:\n%s", out)
		}
		wantIn(t, out, "FAIL  the "+test.fails+" is well", "-simtest.replay="+filepath.Join("testdata", "simtest", test.file)+"\n")
	}
	files, err := filepath.Glob(filepath.Join(dir, "testdata", "simtest", "*.trace.jsonl"))
	if err != nil || len(files) != 2 {
		t.Errorf("%v are kept, not two traces: %v", files, err)
	}
}
