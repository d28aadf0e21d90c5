package bubble

import (
	"net"
	"testing"
)

// Names may be looked up in more than one run of a process: nothing that package net keeps for all of them belongs to the first bubble.
func TestNamesInSeveralBubbles(t *testing.T) {
	for seed := range uint64(2) {
		mustRun(t, seed, func() { _, _ = net.LookupHost("localhost") })
	}
}
