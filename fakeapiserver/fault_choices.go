package fakeapiserver

import "github.com/informersim/informersim/sim"

// faultSet is the faults that one actor offers to the kernel at the moment: at most one choice for each kind.
type faultSet struct {
	offered faultMask
	choices []sim.Choice // by kind; empty while nothing was ever offered
}

// set offers and withdraws until exactly the wanted faults are offered.
func (s *faultSet) set(k *sim.Kernel, id sim.ActorID, want faultMask) {
	if s.offered == want {
		return
	}
	if s.choices == nil {
		s.choices = make([]sim.Choice, numFaults)
	}
	for i := range faultTable {
		bit := faultMask(1) << i
		switch {
		case want&bit != 0 && s.offered&bit == 0:
			s.choices[i] = k.Offer(id, faultTable[i].kind, 0)
		case want&bit == 0 && s.offered&bit != 0:
			k.Withdraw(s.choices[i])
		}
	}
	s.offered = want
}

// applied notes that a choice was taken.
func (s *faultSet) applied(c sim.Choice) {
	if i, ok := faultOfKind(c.Kind); ok {
		s.offered &^= 1 << i
	}
}

// EnableFaults has the actors offer these kinds as choices, in addition to those enabled before. Unknown kinds are an
// error, and nothing is enabled then.
func (c *Cluster) EnableFaults(kinds ...FaultKind) error {
	for _, k := range kinds {
		if _, err := ParseFaultKind(string(k)); err != nil {
			return err
		}
	}
	c.enable(kinds)
	return nil
}

func (c *Cluster) enable(kinds []FaultKind) {
	for _, k := range kinds {
		if i, ok := faultIndex(k); ok {
			c.enabled |= 1 << i
		}
	}
	c.offerFaults()
}

func (c *Cluster) offerFaults() {
	c.offerStoreFaults()
	for _, r := range c.replicas {
		r.offerFaults()
	}
	for _, cl := range c.clients {
		cl.offerFaults()
	}
}

func (c *Cluster) offerStoreFaults() {
	want := faultMask(0)
	if c.store.revision > c.store.compacted {
		want = c.enabled & stageMask[onStore]
	}
	c.faults.set(c.kernel, c.id, want)
}

func (r *Replica) offerFaults() {
	want := r.cluster.enabled & stageMask[onReplica]
	if r.held > 0 {
		want &^= maskOf(ReplicaLag)
	}
	r.faults.set(r.cluster.kernel, r.id, want)
}

// offerFaults offers what can go wrong with the client's requests and watches as they are now.
func (cl *Client) offerFaults() {
	enabled := cl.cluster.enabled &^ (stageMask[onStore] | stageMask[onReplica])
	if enabled == 0 && cl.faults.offered == 0 {
		return
	}
	want := faultMask(0)
	for _, c := range cl.calls {
		if want |= c.possible(); want&enabled == enabled {
			break
		}
	}
	cl.faults.set(cl.cluster.kernel, cl.id, want&enabled)
}
