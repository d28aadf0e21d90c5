package fakeapiserver

import "github.com/informersim/informersim/fakeapiserver/fault"

// spent are the kinds of faults that have hit something since it last made progress. With ClusterOptions.Progress the strategy does not pick
// them for it again before it has made some. A simulation has no need of that: its faults end, and its time costs nothing. A served cluster has its
// faults for as long as it lives, and whoever waits for it waits in real time.
type spent struct{ kinds fault.Set }

// waits are the kinds that make what they hit wait, or that can hit it again at once, of requests and watches.
var waits = slowMask | blockingMask

// hit notes a fault.
func (s *spent) hit(k fault.Kind) { s.kinds |= fault.SetOf(k) }

// drawable returns which of the kinds that could happen the strategy may pick.
func (s *spent) drawable(c *Cluster, could fault.Set) fault.Set {
	if !c.options.Progress {
		return could
	}
	return could &^ s.kinds
}

// drawableFaults returns the set of faults that the strategy may have hit the request or watch now. A request is slow once at most.
func (c *call) drawableFaults() fault.Set {
	could := c.eligibleFaults()
	return could&^waits | c.spent.drawable(c.client.cluster, could&waits)
}

// progressed lets a watch be held up again once it has delivered all there is.
func (s *stream) progressed() {
	if c := s.call; c.client.cluster.options.Progress && c.spent.kinds != 0 && s.blocked == 0 && !s.hasNext() {
		c.spent.kinds = 0
		c.client.offerFaults()
	}
}

// progressed lets a replica's faults happen again once it has answered a request, or applied an event, and has no other left to apply.
func (r *Replica) progressed() {
	if !r.cluster.options.Progress || r.spent.kinds == 0 || r.held > 0 {
		return
	}
	for _, c := range r.caches {
		if !c.ready || c.behind() {
			return
		}
	}
	r.spent.kinds = 0
	r.offerFaults()
}
