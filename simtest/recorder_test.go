package simtest_test

import (
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/informersim/informersim/simtest"
	"github.com/informersim/informersim/simtest/internal/bubble"
)

// recorder is a TB that records failures.
type recorder struct {
	name   string
	errors []string
	logs   []string
	failed bool
	panics any
}

func (r *recorder) Helper()                      {}
func (r *recorder) Name() string                 { return r.name }
func (r *recorder) Logf(format string, a ...any) { r.logs = append(r.logs, fmt.Sprintf(format, a...)) }
func (r *recorder) Errorf(format string, a ...any) {
	r.failed = true
	r.errors = append(r.errors, fmt.Sprintf(format, a...))
}
func (r *recorder) FailNow()     { r.failed = true; runtime.Goexit() }
func (r *recorder) Failed() bool { return r.failed }

// keeper is a recorder for which traces are stored.
type keeper struct{ recorder }

func (*keeper) TempDir() string { return "" }

// try calls Run as a test would, and returns what Run panicked with.
func try(tb simtest.TB, o simtest.Options, body func(env *simtest.Env)) (panicked any) {
	done := make(chan any, 1)
	go func() {
		var p any
		defer func() { done <- p }()
		defer func() { p = recover() }()
		simtest.Run(tb, o, body)
	}()
	return <-done
}

// failure returns the report of a failing run of one seed.
func failure(t *testing.T, o simtest.Options, body func(env *simtest.Env)) string {
	t.Helper()
	r := &recorder{name: t.Name()}
	if o.Seeds == 0 {
		o.Seeds = 1
	}
	if p := try(r, o, body); p != nil {
		t.Fatalf("Run panicked: %v", p)
	}
	if !r.failed {
		t.Fatal("Run did not fail")
	}
	return strings.Join(r.errors, "\n")
}

// goTest is how a command begins that builds a test as this one is built.
func goTest() string {
	if bubble.Seeded() {
		return "informersim go test "
	}
	return "go test "
}

// wantIn checks that a message contains every wanted part.
func wantIn(t *testing.T, message string, want ...string) {
	t.Helper()
	for _, w := range want {
		if !strings.Contains(message, w) {
			t.Errorf("the message lacks %q:\n%s", w, message)
		}
	}
}
