package simtest_test

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
)

// What a process does on a timer, without a request, is in time if it is before the deadline.
func TestEventuallySeesTimersOfProcesses(t *testing.T) {
	simtest.Run(t, simtest.Options{Seeds: 5, Mix: "none"}, func(env *simtest.Env) {
		var done atomic.Bool
		env.Go("sleeper", func(ctx context.Context) error {
			time.Sleep(100 * time.Millisecond)
			time.Sleep(100 * time.Millisecond)
			done.Store(true)
			<-ctx.Done()
			return nil
		})
		env.Eventually("it is done", time.Minute, func() error {
			if !done.Load() {
				return errors.New("not yet")
			}
			return nil
		})
	})
}
