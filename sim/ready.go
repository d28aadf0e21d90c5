package sim

// An Offer is a choice in the ready set, and when it was offered.
type Offer struct {
	Choice
	// Stamp counts offers over all actors: smaller is older. Scripts' choices have stamp 0, so they are the oldest.
	Stamp uint64
}

// Ready is the ready set: the choices that may happen next, in canonical order. Strategies must not change it.
type Ready struct {
	// Actions are the choices of the classes action and script, Faults those of the class fault.
	Actions, Faults []Offer
	// FaultGroups are the kinds of Faults, each with how many there are, in the order of their names.
	FaultGroups []FaultGroup
	// Time tells whether the clock may be advanced.
	Time bool
	// Advance is the choice that advances it.
	Advance Choice

	ages  ages
	all   []Offer // the backing array of Actions
	front int     // number of unused elements before Actions
}

// FaultGroup is a kind of fault of which at least one is enabled.
type FaultGroup struct {
	Kind  Kind
	Count int
}

func (r *Ready) insertFault(o Offer, kinds []kindInfo) {
	r.Faults = insert(r.Faults, o)
	i := r.faultKind(o.Kind, kinds)
	if i == len(r.FaultGroups) || r.FaultGroups[i].Kind != o.Kind {
		r.FaultGroups = append(r.FaultGroups, FaultGroup{})
		copy(r.FaultGroups[i+1:], r.FaultGroups[i:])
		r.FaultGroups[i] = FaultGroup{Kind: o.Kind}
	}
	r.FaultGroups[i].Count++
}

func (r *Ready) removeFault(c Choice, kinds []kindInfo) (ok bool) {
	if r.Faults, ok = remove(r.Faults, c); !ok {
		return false
	}
	i := r.faultKind(c.Kind, kinds)
	if r.FaultGroups[i].Count--; r.FaultGroups[i].Count == 0 {
		r.FaultGroups = append(r.FaultGroups[:i], r.FaultGroups[i+1:]...)
	}
	return true
}

// faultKind is where kind is among FaultGroups, or belongs. Names decide, since the numbers of kinds differ between programs.
func (r *Ready) faultKind(kind Kind, kinds []kindInfo) int {
	for i, f := range r.FaultGroups {
		if f.Kind == kind || kinds[f.Kind].name > kinds[kind].name {
			return i
		}
	}
	return len(r.FaultGroups)
}

func search(set []Offer, order uint64) int {
	// The common case: a new offer of the actor with the highest id goes to the end.
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

// addAction inserts o into the actions.
func (r *Ready) addAction(o Offer) {
	if r.ages.kept {
		r.ages.add(o)
	}
	if len(r.Actions) == cap(r.Actions) {
		r.makeRoom()
	}
	r.Actions = append(r.Actions, o)
	if n := len(r.Actions) - 1; n > 0 && r.Actions[n-1].order() > o.order() {
		sink(r.Actions)
	}
}

// removeAction removes the action at i.
func (r *Ready) removeAction(i int) {
	if r.ages.kept {
		r.ages.remove(r.Actions[i])
	}
	last := len(r.Actions) - 1
	if last > crowd {
		r.shrink(i)
		return
	}
	if i < last {
		closeGap(r.Actions[i:])
	}
	r.Actions = r.Actions[:last]
}

func insert(set []Offer, o Offer) []Offer {
	set = append(set, o)
	if n := len(set) - 1; n > 0 && set[n-1].order() > o.order() {
		sink(set)
	}
	return set
}

// remove removes c from the set. A choice is found by actor and sequence; its other fields must agree.
func remove(set []Offer, c Choice) ([]Offer, bool) {
	i := find(set, c)
	if i < 0 {
		return set, false
	}
	closeGap(set[i:])
	return set[:len(set)-1], true
}

// find returns the index of c in the set, or -1.
func find(set []Offer, c Choice) int {
	if i := search(set, c.order()); i < len(set) && set[i].Choice == c {
		return i
	}
	return -1
}

// shortShift is the largest number of offers that are moved one by one: for a typical ready set that is cheaper than memmove.
const shortShift = 8

// sink moves the last offer to its place among the others, which are sorted.
func sink(set []Offer) {
	last := len(set) - 1
	o := set[last]
	if last > shortShift {
		i := search(set[:last], o.order())
		copy(set[i+1:], set[i:last])
		set[i] = o
		return
	}
	i := last
	for ; i > 0 && set[i-1].order() > o.order(); i-- {
		set[i] = set[i-1]
	}
	set[i] = o
}

// closeGap moves all offers but the first down by one, overwriting the first.
func closeGap(set []Offer) {
	if len(set) > shortShift {
		copy(set, set[1:])
		return
	}
	for i := 1; i < len(set); i++ {
		set[i-1] = set[i]
	}
}

// oldest returns the index of the oldest action, the first among equals, or -1 if there is none.
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
