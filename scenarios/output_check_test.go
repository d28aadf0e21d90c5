package scenarios_test

import (
	"strings"
	"testing"

	"github.com/informersim/informersim/scenarios"
)

// A command right below an expected output, where the blank line was forgotten, is an error: it would be compared with the output, and not run.
func TestCommandInsideAnOutput(t *testing.T) {
	const before = "resource pods\ncreate pods default/a\ninformer i1 pods handlers=h1\nsettle\nlog h1\n----\n"
	const output = "h1 add default/a rv=1 initial\n"
	_, err := scenarios.Parse("my.sim", []byte(before+output+"expect i1 converged count=7\n"))
	if want := `my.sim:8:1: "expect i1 converged count=7" is inside the expected output of log, so it does not run; put a blank line before the command`; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Errorf("got %v, want %s", err, want)
	}
	for name, text := range map[string]string{
		"a blank line":               before + output + "\nexpect i1 converged\n",
		"a fence":                    before + "----\n" + output + "expect i1 converged\n----\n----\n",
		"output that begins as one":  before + "expect nothing of this\n",
		"prose, which is part of it": before + output + "# prose\n",
	} {
		s, err := scenarios.Parse("my.sim", []byte(text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if again, err := scenarios.Parse("my.sim", []byte(s.Text())); err != nil || again.Text() != s.Text() {
			t.Errorf("%s: printed, it is\n%s%v", name, s.Text(), err)
		}
	}
}
