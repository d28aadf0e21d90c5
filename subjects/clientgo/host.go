package clientgo

import (
	"time"

	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/clientgo/gates"
)

// Host is a subjects.Host that makes a run inside a bubble of its own. It may not be called inside a bubble.
func Host(seed uint64, run func()) error { return gates.Host(seed, 0, run) }

// HostWithin is Host with another limit on the real time that a step may take to become quiescent.
func HostWithin(quiescence time.Duration) subjects.Host {
	return func(seed uint64, run func()) error { return gates.Host(seed, quiescence, run) }
}
