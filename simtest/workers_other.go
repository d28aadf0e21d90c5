//go:build !unix

package simtest

const canHaveWorkers = false

// keepFromChildren does nothing here, where there are no workers.
func keepFromChildren(...int) {}
