//go:build race

package simtest_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
)

// A data race in the user's code fails the run with a clear message, and does not hang it.
func TestDataRaceEndsTheRun(t *testing.T) {
	aside(t)
	if !isChild() {
		if out := runChild(t); strings.Count(out, "DATA RACE") != 1 || !strings.Contains(out, "the race detector found a data race during this run") {
			t.Errorf("the child's output:\n%s", out)
		}
		return
	}
	t.Chdir(t.TempDir()) // where the trace of the failure is kept
	simtest.Run(t, simtest.Options{Seeds: 3, Mix: "none"}, func(env *simtest.Env) {
		n := 0
		env.Go("p", func(ctx context.Context) error {
			time.Sleep(time.Second)
			n++
			return nil
		})
		n++
		env.Advance(2 * time.Second)
	})
}
