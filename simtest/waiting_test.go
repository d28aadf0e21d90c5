package simtest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/informersim/informersim/simtest"
)

// A goroutine that waits for what never comes is a reason why something does not come true, so a failure names its line. One that waits for its end, or for time, is none.
func TestFailureNamesWhatWaits(t *testing.T) {
	start := func(env *simtest.Env) {
		for _, name := range []string{"one", "two"} {
			env.Go(name, func(ctx context.Context) error {
				go func() { <-ctx.Done() }()
				go func() {
					for ctx.Err() == nil {
						time.Sleep(time.Minute)
					}
				}()
				ready := make(chan struct{})
				select {
				case <-ready:
				case <-ctx.Done():
				}
				return nil
			})
		}
		env.Go("three", func(ctx context.Context) error {
			var all sync.WaitGroup
			all.Add(1)
			context.AfterFunc(ctx, all.Done)
			all.Wait()
			return nil
		})
		env.Advance(time.Second)
	}
	r := &recorder{name: t.Name()}
	for name, body := range map[string]func(env *simtest.Env){
		"eventually": func(env *simtest.Env) {
			start(env)
			env.Eventually("done", time.Minute, func() error { return errors.New("not yet") })
		},
		"body": func(env *simtest.Env) {
			start(env)
			r.Errorf("not done")
		},
	} {
		r.failed, r.errors = false, nil
		_ = try(r, simtest.Options{Seeds: 1, Mix: "none", CrashProbability: -1}, body)
		message := strings.Join(r.errors, "\n")
		_, section, _ := strings.Cut(message, "\n  where goroutines waited in code of yours when the time was up\n")
		section, _, _ = strings.Cut(section, "\n\n")
		lines := strings.Split(section, "\n")
		if len(lines) != 2 {
			t.Fatalf("%s: these lines say what waits, want 2:\n%s\nin\n%s", name, section, message)
		}
		wantIn(t, lines[0], "select in github.com/informersim/informersim/simtest_test.TestFailureNamesWhatWaits.", "(waiting_test.go:", ": select { (2 goroutines)")
		wantIn(t, lines[1], "sync.WaitGroup.Wait in ", ": all.Wait()")
	}
	message := failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		start(env)
		env.Always("never", func() error { return errors.New("it is") })
	})
	if strings.Contains(message, "where goroutines waited") {
		t.Errorf("an invariant does not wait for anything:\n%s", message)
	}
}
