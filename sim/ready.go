package sim

// Offer is a choice in the ready set, and when it came there.
type Offer struct {
	Choice
	// Stamp counts offers over all actors: the smaller the older. Scripts' choices have stamp 0, so they are oldest.
	Stamp uint64
}

// Ready is the ready set: what may happen next, in canonical order. Strategies read it; they may not change it.
type Ready struct {
	// Actions are the choices of the classes action and script, Faults those of the class fault.
	Actions, Faults []Offer
	// Time tells whether the clock may be advanced.
	Time bool
	// Advance is the choice that does it.
	Advance Choice
}

func search(set []Offer, order uint64) int {
	// New offers of the actor with the highest id, the common case, go to the end.
	if n := len(set); n == 0 || set[n-1].order() < order {
		return n
	}
	lo, hi := 0, len(set)
	for lo < hi {
		mid := int(uint(lo+hi) >> 1)
		if set[mid].order() < order {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

func insert(set []Offer, o Offer) []Offer {
	i := search(set, o.order())
	set = append(set, Offer{})
	copy(set[i+1:], set[i:])
	set[i] = o
	return set
}

// remove takes c out of the set. A choice is found by actor and sequence; the rest of it must agree.
func remove(set []Offer, c Choice) ([]Offer, bool) {
	i := search(set, c.order())
	if i == len(set) || set[i].Choice != c {
		return set, false
	}
	copy(set[i:], set[i+1:])
	return set[:len(set)-1], true
}
