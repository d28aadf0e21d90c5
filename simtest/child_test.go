package simtest_test

import (
	"os"
	"os/exec"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/fields"

	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/simtest"
)

type everything struct{ fields.Selector }

func (everything) String() string { return "" }

var badFault = fakeapiserver.Fault{Kind: "watch-eoff"}

const childEnv = "SIMTEST_TEST_CHILD"

func isChild() bool { return os.Getenv(childEnv) != "" }

// runChild runs this test in a process of its own, which is to fail, and returns what it prints.
func runChild(t *testing.T) string {
	t.Helper()
	exe, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command(exe, "-test.run", "^"+t.Name()+"$", "-test.timeout", "60s")
	cmd.Env = append(os.Environ(), childEnv+"=1")
	out, err := cmd.CombinedOutput()
	if err == nil {
		t.Fatalf("the child passes:\n%s", out)
	}
	return string(out)
}

// simtestOfChild waits for the outside in a world, and then tries another one.
func simtestOfChild(t *testing.T, wait func()) {
	o := simtest.Options{Seeds: 1, Patience: 200 * time.Millisecond}
	r := &recorder{name: t.Name()}
	_ = try(r, o, func(env *simtest.Env) {
		go wait()
		env.Settle()
	})
	for _, e := range r.errors {
		t.Error(e)
	}
	simtest.Run(t, o, func(env *simtest.Env) { env.Settle() })
}
