package mutants

import (
	"errors"
	"strconv"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/informer/workqueue"
	"github.com/informersim/informersim/subjects/stack"
)

// nothingSeen says why a relist after a watch without events is not for NoRelistOnEOF.
const nothingSeen = "a watch that delivered nothing ends, and the relist after it is as needless"

// requestMutants ask the apiserver for too much, or too soon.
func requestMutants() []Mutant {
	backoff := func(o informer.BackoffOptions) stack.Parts {
		return stack.Parts{Reflector: func(r *informer.ReflectorOptions) { r.Backoff = o }}
	}
	return []Mutant{
		{
			Name: "backoff-does-not-grow", Defect: "the reflector's backoff is 800 ms after every failure",
			Property: "BackoffHonoured", Scenario: "first_list_fails", Kind: stack.With(backoff(informer.BackoffOptions{Factor: 1})),
		}, {
			Name: "backoff-too-short", Defect: "the reflector's backoff begins at 10 ms",
			Property: "BackoffHonoured", Scenario: "watch_410", Kind: stack.With(backoff(informer.BackoffOptions{Initial: 10 * time.Millisecond})),
		}, {
			Name: "negative-retry-delay", Defect: "the limiter of a work queue returns a negative delay, so that a failed key is retried at once",
			Property: "BackoffHonoured", Scenario: "worker_retry",
			Kind: stack.With(stack.Parts{WorkQueue: func(l workqueue.RateLimiter[string], o workqueue.Order[string]) stack.WorkQueue {
				return &workQueue{limiter: negative{l}, order: o, dirty: map[string]bool{}, working: map[string]int{}}
			}}),
		}, {
			Name: "relist-after-refusal", Defect: "a watch that is refused is followed by a list, not by another watch",
			Property: "BoundedRelists", Scenario: "watch_open_errors",
			Kind: stack.With(stack.Parts{OpenError: func(error) error { return errors.New("the watch could not be opened") }}),
		}, {
			Name: "relist-on-close", Defect: "the end of a watch is taken for an error: the informer lists again",
			Property: "NoRelistOnEOF", Or: "BoundedRelists", OrBecause: nothingSeen, Scenario: "watch_close",
			Kind: stack.With(stack.Parts{WatchEnd: func(error) error { return errors.New("the watch has ended") }}),
		}, {
			Name: "watch-from-an-older-version", Defect: "a watch begins one version before the last event",
			Property: "WatchResumes", Scenario: "watch_close",
			Kind: stack.With(stack.Parts{WatchOptions: func(o *metav1.ListOptions) {
				if rv, err := strconv.Atoi(o.ResourceVersion); err == nil && rv > 1 && o.SendInitialEvents == nil {
					o.ResourceVersion = strconv.Itoa(rv - 1)
				}
			}}),
		}, {
			Name: "watches-too-long", Defect: "the reflector asks for watches of 20 to 40 minutes",
			Property: "WatchDeadlines", Scenario: "watch_close",
			Kind: stack.With(stack.Parts{Reflector: func(r *informer.ReflectorOptions) { r.MinWatchTimeout = 20 * time.Minute }}),
		},
	}
}

// negative is a limiter that subtracts a delay where it should add it.
type negative struct{ workqueue.RateLimiter[string] }

func (n negative) When(now time.Time, key string) time.Duration {
	return -n.RateLimiter.When(now, key)
}
