package world

import (
	"github.com/informersim/informersim/fakeapiserver"
	"github.com/informersim/informersim/fakeapiserver/store"
)

// mostLeapt is where resourceVersions leap no more: they stay readable.
const mostLeapt = 1_000_000_000_000

// leap has every so many writes be followed by one whose resourceVersion has a digit more, as if many others had written meanwhile. Who compares versions as text is wrong then, and in a cluster at
// some time or other.
func leap(c *fakeapiserver.Cluster, every int) {
	writes, next := 0, int64(1)
	c.OnCommit(func(store.ResourceID, store.Committed) {
		if writes++; writes%every != 0 {
			return
		}
		for next <= c.Store().Revision() {
			next *= 10
		}
		if next <= mostLeapt {
			_ = c.SkipTo(next) // it is later than the last
		}
	})
}
