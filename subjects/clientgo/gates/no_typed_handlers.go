//go:build no_typed_handlers

package gates

import (
	"time"

	"k8s.io/client-go/tools/cache"
)

// typed is false: these releases have no typed handlers.
func (f *filter) typed(bool) bool { return false }

func addTyped(cache.SharedIndexInformer, *handler, time.Duration) (r registration, typed bool, err error) {
	return r, false, nil
}
