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
	// FaultKinds are the kinds of Faults, each with how many there are, in the order of their names.
	FaultKinds []FaultKind
	// Time tells whether the clock may be advanced.
	Time bool
	// Advance is the choice that does it.
	Advance Choice
}

// FaultKind is a kind of fault of which at least one is enabled.
type FaultKind struct {
	Kind  Kind
	Count int
}

func (r *Ready) insertFault(o Offer, kinds []kindInfo) {
	r.Faults = insert(r.Faults, o)
	i := r.faultKind(o.Kind, kinds)
	if i == len(r.FaultKinds) || r.FaultKinds[i].Kind != o.Kind {
		r.FaultKinds = append(r.FaultKinds, FaultKind{})
		copy(r.FaultKinds[i+1:], r.FaultKinds[i:])
		r.FaultKinds[i] = FaultKind{Kind: o.Kind}
	}
	r.FaultKinds[i].Count++
}

func (r *Ready) removeFault(c Choice, kinds []kindInfo) (ok bool) {
	if r.Faults, ok = remove(r.Faults, c); !ok {
		return false
	}
	i := r.faultKind(c.Kind, kinds)
	if r.FaultKinds[i].Count--; r.FaultKinds[i].Count == 0 {
		r.FaultKinds = append(r.FaultKinds[:i], r.FaultKinds[i+1:]...)
	}
	return true
}

// faultKind is where kind is among FaultKinds, or belongs. Names decide, since the numbers of kinds differ between programs.
func (r *Ready) faultKind(kind Kind, kinds []kindInfo) int {
	for i, f := range r.FaultKinds {
		if f.Kind == kind || kinds[f.Kind].name > kinds[kind].name {
			return i
		}
	}
	return len(r.FaultKinds)
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
	set = append(set, o)
	if last := len(set) - 1; i < last {
		shiftUp(set[i:])
		set[i] = o
	}
	return set
}

// remove takes c out of the set. A choice is found by actor and sequence; the rest of it must agree.
func remove(set []Offer, c Choice) ([]Offer, bool) {
	i := search(set, c.order())
	if i == len(set) || set[i].Choice != c {
		return set, false
	}
	return removeAt(set, i), true
}

func removeAt(set []Offer, i int) []Offer {
	last := len(set) - 1
	if rest := set[i:]; len(rest) > shortShift {
		copy(rest, rest[1:])
	} else {
		for j := 1; j < len(rest); j++ {
			rest[j-1] = rest[j]
		}
	}
	return set[:last]
}

// shortShift is up to how many offers are moved one by one: what a ready set usually has costs less than a call of memmove.
const shortShift = 8

// shiftUp moves all but the last by one place, over the last.
func shiftUp(set []Offer) {
	if len(set) > shortShift {
		copy(set[1:], set)
		return
	}
	for j := len(set) - 1; j > 0; j-- {
		set[j] = set[j-1]
	}
}

// oldest is the place of the oldest action, -1 if there is none. Of several that are equally old it is the first.
func oldest(set []Offer) int {
	if len(set) < 2 {
		return len(set) - 1
	}
	best, stamp := 0, set[0].Stamp
	for i := 1; i < len(set); i++ {
		if s := set[i].Stamp; s < stamp {
			best, stamp = i, s
		}
	}
	return best
}
