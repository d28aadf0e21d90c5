package simtest

import (
	"time"
	_ "unsafe" // for go:linkname
)

// neverExitWatch is a variable of package cache in older releases of client-go, v0.34 among them: the channel that a reflector without
// resyncs selects on. It is made outside of every bubble, and a goroutine that waits for it keeps the bubble from coming to rest. A nil
// channel means the same and does not. In programs with another client-go it is a variable that nothing reads.
//
//go:linkname neverExitWatch k8s.io/client-go/tools/cache.neverExitWatch
var neverExitWatch <-chan time.Time

// forgetNeverExitWatch makes the channel nil, for good: reflectors outside of bubbles do as well without it. It is called when
// the packages' variables have been initialised.
func forgetNeverExitWatch() {
	if neverExitWatch != nil {
		neverExitWatch = nil
	}
}
