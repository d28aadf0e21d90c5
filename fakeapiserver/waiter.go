package fakeapiserver

// waiter is a request that waits for a watch cache to reach a revision.
type waiter struct {
	cache *watchCache
	rev   int64
	timer interface{ Stop() bool }
	then  func(fresh bool)
}

func (w *waiter) stop() {
	if w != nil {
		w.timer.Stop()
		w.cache.forget(w)
	}
}
