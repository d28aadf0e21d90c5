//go:build no_registrations

package gates

import (
	"errors"
	"time"

	"k8s.io/client-go/tools/cache"
)

type registration struct{}

func addHandler(inf cache.SharedIndexInformer, h *handler, resync time.Duration) (registration, error) {
	inf.AddEventHandlerWithResyncPeriod(h, resync)
	return registration{}, nil
}

func removeHandler(cache.SharedIndexInformer, registration) error {
	return errors.New("an informer of these releases keeps its handlers for good")
}
