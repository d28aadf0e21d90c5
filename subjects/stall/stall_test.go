package stall

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/informersim/informersim/subjects"
)

// A run that goes on is left alone, however long it takes; one whose step does not end is given up, with the place where it is.
func TestWatch(t *testing.T) {
	const tick = time.Millisecond
	if err := watch(func(stepped func()) {
		for range 5 * maxTicks {
			time.Sleep(tick)
			stepped()
		}
	}, tick); err != nil {
		t.Errorf("a run that goes on: %v", err)
	}

	over, after := make(chan struct{}), make(chan struct{}, 1)
	err := watch(func(stepped func()) {
		stepped()
		spin(over)
		stepped()
		after <- struct{}{}
	}, tick)
	var failure *subjects.Failure
	if !errors.As(err, &failure) || failure.Kind != subjects.Hung || !strings.Contains(failure.What, "stall.spin (stall_test.go:") {
		t.Errorf("a step that does not end: %v", err)
	}
	close(over)
	select {
	case <-after:
		t.Error("a run that was given up goes on")
	case <-time.After(50 * tick):
	}
}

func spin(over chan struct{}) {
	for {
		select {
		case <-over:
			return
		default:
		}
	}
}
