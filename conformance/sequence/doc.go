// Package sequence generates probes: random sequences of requests over a few objects, with watches opened at random
// points in their history. It reduces those that show a difference.
//
// A seed always gives the same script. The scripts avoid requests with more than one right answer: they do not race
// requests, and read from a cache only after it has caught up (package probe).
package sequence
