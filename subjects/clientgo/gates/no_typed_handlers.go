//go:build no_typed_handlers

package gates

import (
	"time"

	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/subjects"
)

// typed is false: these releases have no typed handlers.
func (f *filter) typed(bool) bool { return false }

func addTyped(cache.SharedIndexInformer, *handler, time.Duration) (r registration, typed bool, err error) {
	return r, false, nil
}

// Outcomes are none: what informers of these releases refuse differs.
func (*Gates) Outcomes(int) []subjects.Outcome { return nil }

// watched leaves a transform alone.
func (*informer) watched(transform func(any) (any, error)) func(any) (any, error) { return transform }

// Library is empty: what these releases offer differs.
func (*Gates) Library(uint64) []subjects.Outcome { return nil }

func (*informer) listens() error { return nil }

func (*informer) listFails(error) {}

func (*informer) listBegins() {}
