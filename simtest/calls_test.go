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
	trace := filepath.Join("testdata", "simtest", t.Name()+"-1.trace.jsonl")
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
