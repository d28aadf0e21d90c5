//go:build !no_registrations

package gates

import (
	"time"

	"k8s.io/client-go/tools/cache"
)

type registration = cache.ResourceEventHandlerRegistration

func addHandler(inf cache.SharedIndexInformer, h *handler, resync time.Duration) (registration, error) {
	if h.n%2 == 1 {
		if r, typed, err := addTyped(inf, h, resync); typed {
			return r, err
		}
	}
	return inf.AddEventHandlerWithResyncPeriod(h, resync)
}

func removeHandler(inf cache.SharedIndexInformer, r registration) error {
	return inf.RemoveEventHandler(r)
}
