// Package sequence generates probes: random sequences of requests over a few objects, with watches opened at random
// places in their history, and shortens those that show a difference.
//
// A seed always gives the same script. The scripts avoid what a server may rightly answer in two ways: they do not race
// requests, and whatever may be read from a lagging cache is read after the cache has caught up (package probe).
package sequence
