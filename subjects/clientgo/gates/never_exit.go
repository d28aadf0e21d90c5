//go:build no_own_channels

package gates

import (
	"time"
	_ "unsafe" // for go:linkname
)

// neverExitWatch is client-go's channel for informers that do not resync. It is made when the program starts, outside of every bubble, and
// whoever waits for such a channel is not quiescent.
//
//go:linkname neverExitWatch k8s.io/client-go/tools/cache.neverExitWatch
var neverExitWatch <-chan time.Time

// ownChannels replaces what is made outside of the bubble by something that is made in it.
func ownChannels() { neverExitWatch = make(chan time.Time) }
