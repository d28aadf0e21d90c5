package main

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/informersim/informersim/scenarios"
	"github.com/informersim/informersim/subjects/clientgo/remote"
)

// defaultTimeout is that of go test.
const defaultTimeout = 10 * time.Minute

// graceTime is how long a run whose time is up may take to say what it is doing, which it does after a few hundred steps at most. It
// is a variable for a test.
var graceTime = 10 * time.Second

// timeLimit is the real time that one run may take; 0 for no limit.
type timeLimit time.Duration

func (l *timeLimit) define(c *cobra.Command) {
	c.Flags().DurationVar((*time.Duration)(l), "timeout", defaultTimeout, "the real time that one run may take before it counts as not decided; 0 for no limit")
}

func (l timeLimit) check() error {
	if l < 0 {
		return fmt.Errorf("--timeout %v is negative: use a duration like 10m, or 0 for no limit", time.Duration(l))
	}
	return nil
}

// stillRunning is the error of a run that did not even stop to say what it is doing: a step of it does not end.
type stillRunning struct {
	limit time.Duration
	seed  uint64
	stack string
}

func (e *stillRunning) Error() string {
	return strings.TrimRight(fmt.Sprintf("the time is up, and the run of seed %d has not ended: one of its steps goes on and on, for %v at least\n%s", e.seed, graceTime, e.stack), "\n")
}

// undecided tells whether an error means that a run has no verdict: it took too long, or its process was killed.
func undecided(err error) bool {
	return errors.As(err, new(*lostSeeds)) || errors.As(err, new(*deadWorker)) || errors.As(err, new(*remote.DeadError)) || errors.As(err, new(*scenarios.TimeoutError)) || errors.As(err, new(*scenarios.SearchError)) || errors.As(err, new(*stillRunning)) || errors.As(err, new(*cutShort))
}

// within calls run, which must return soon after its context is done. A run that does not is left behind: it ends with the process.
func within[T any](ctx context.Context, l timeLimit, seed uint64, run func(context.Context) (T, error)) (T, error) {
	if l == 0 {
		return run(ctx)
	}
	ctx, cancel := context.WithTimeout(ctx, time.Duration(l))
	defer cancel()
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := run(ctx)
		done <- outcome{value, err}
	}()
	late := time.NewTimer(time.Duration(l) + graceTime)
	defer late.Stop()
	select {
	case o := <-done:
		return o.value, o.err
	case <-late.C:
		var none T
		return none, &stillRunning{time.Duration(l), seed, loopStack()}
	}
}

// maxStackLines bounds what is shown of a stack.
const maxStackLines = 24

// loopStack returns the stack of the goroutine that steps a run.
func loopStack() string {
	dump := make([]byte, 1<<20)
	dump = dump[:runtime.Stack(dump, true)]
	for _, block := range bytes.Split(dump, []byte("\n\n")) {
		if bytes.Contains(block, []byte("scenarios.(*World).loop")) {
			lines := strings.Split(string(block), "\n")
			return "  " + strings.Join(lines[:min(len(lines), maxStackLines)], "\n  ")
		}
	}
	return ""
}
