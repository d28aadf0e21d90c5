//go:build !no_drains

package gates

func drain(q keyQueue) { q.ShutDownWithDrain() }
