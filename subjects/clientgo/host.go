package clientgo

import (
	"time"

	"github.com/informersim/informersim/bubble"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo/gates"
)

// Host is a subjects.Host that makes a run inside a bubble of its own. It may not be called inside a bubble.
func Host(seed uint64, run func()) error { return gates.Host(seed, 0, false, run) }

// notInterleaved says why there is no interleavedHost.
const notInterleaved = "this program is built without the overlay of Go's runtime, which does that; in a clone of informersim, build one with it: " +
	`informersim go build ./cmd/informersim`

// interleavedHost returns Host with client-go's goroutines interleaved by the seed, nil if this program cannot do that.
func interleavedHost() subjects.Host {
	if !bubble.Seeded() {
		return nil
	}
	return func(seed uint64, run func()) error { return gates.Host(seed, 0, true, run) }
}

// hostOfMany is Host, or interleavedHost, for one of many runs that deadlock.
func hostOfMany(interleave bool) subjects.Host {
	return func(seed uint64, run func()) error { return gates.HostOfMany(seed, interleave, run) }
}

// HostWithin is Host with another limit on the real time that a step may take to become quiescent.
func HostWithin(quiescence time.Duration) subjects.Host {
	return func(seed uint64, run func()) error { return gates.Host(seed, quiescence, false, run) }
}
