package simtest_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/util/workqueue"

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
		env.Go("four", func(ctx context.Context) error { // whose informers are told to end by nobody, after an error
			client := kubernetes.NewForConfigOrDie(env.RESTConfig("four"))
			factory := informers.NewSharedInformerFactory(client, 0)
			factory.Core().V1().ConfigMaps().Informer()
			stop := make(chan struct{})
			context.AfterFunc(ctx, func() { close(stop) })
			factory.Start(stop)
			factory.Shutdown()
			return nil
		})
		env.Go("five", func(ctx context.Context) error {
			return wait.PollImmediateUntil(time.Second, func() (bool, error) { return false, nil }, ctx.Done())
		})
		env.Go("six", func(ctx context.Context) error { // it is idle
			queue := workqueue.New()
			context.AfterFunc(ctx, queue.ShutDown)
			queue.Get()
			wait.Until(func() {}, time.Second, ctx.Done())
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
		if len(lines) != 4 {
			t.Fatalf("%s: these lines say what waits, want 4:\n%s\nin\n%s", name, section, message)
		}
		wantIn(t, lines[0], "select in github.com/informersim/informersim/simtest_test.TestFailureNamesWhatWaits.", "(waiting_test.go:", ": select { (2 goroutines)")
		wantIn(t, lines[1], "select in k8s.io/apimachinery/pkg/util/wait.PollImmediateUntil (wait.go:", ", called by github.com/informersim/informersim/simtest_test.TestFailureNamesWhatWaits.",
			": return wait.PollImmediateUntil(")
		wantIn(t, lines[2], "sync.WaitGroup.Wait in github.com/informersim/", ": all.Wait()")
		wantIn(t, lines[3], "sync.WaitGroup.Wait in k8s.io/client-go/informers.(*sharedInformerFactory).Shutdown (factory.go:", ": factory.Shutdown()")
	}
	message := failure(t, simtest.Options{Mix: "none"}, func(env *simtest.Env) {
		start(env)
		env.Always("never", func() error { return errors.New("it is") })
	})
	if strings.Contains(message, "where goroutines waited") {
		t.Errorf("an invariant does not wait for anything:\n%s", message)
	}
}
