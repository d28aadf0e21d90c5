package simtest_test

import (
	"errors"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
)

// A report tells the time after StopFaults from the rest; a second call changes nothing.
func TestReportTellsConvergingTime(t *testing.T) {
	message := failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		env.Advance(2 * time.Minute)
		env.StopFaults()
		env.Advance(time.Minute)
		env.StopFaults()
		env.Eventually("never", 10*time.Minute, func() error { return errors.New("not yet") })
	})
	wantIn(t, message, " · 13m0s of virtual time, 11m0s of it to converge · ")
	message = failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		env.Eventually("never", 10*time.Minute, func() error { return errors.New("not yet") })
	})
	wantIn(t, message, " · 10m0s of virtual time · ")
}
