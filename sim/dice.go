package sim

// dice decide which faults happen, for every strategy that has any.
type dice struct {
	seed    uint64
	rate    FaultRate
	byKind  []*faultDice // nil until first used
	room    []faultDice  // for the next ones
	stopped bool
}

// StopFaults ends the faults, and lets the strategy know that the run must converge now.
func (s *dice) StopFaults() { s.stopped = true }

// fault gives every enabled kind its chance, in order of name, and returns a fault of the first kind that happens.
func (s *dice) fault(r *Ready) (Choice, bool) {
	if s.stopped || s.rate == nil || len(r.Faults) == 0 {
		return Choice{}, false
	}
	for _, f := range r.FaultGroups {
		if d := s.of(f.Kind); d.roll() {
			return ofKind(r.Faults, f.Kind, d.stream.IntN(f.Count)), true
		}
	}
	return Choice{}, false
}

func (s *dice) of(kind Kind) *faultDice {
	if int(kind) >= len(s.byKind) {
		s.byKind = append(s.byKind, make([]*faultDice, int(kind)+8-len(s.byKind))...)
	}
	if s.byKind[kind] == nil {
		if len(s.room) == 0 {
			s.room = make([]faultDice, 8)
		}
		s.byKind[kind], s.room = &s.room[0], s.room[1:]
		s.byKind[kind].init(s.seed, kind, s.rate(kind))
	}
	return s.byKind[kind]
}

// faultDice decides, one opportunity after another, whether a kind of fault happens. The probability is a fraction of 65536,
// so that one draw serves four opportunities and no floating point, whose last bit differs between machines, is involved.
type faultDice struct {
	threshold uint32 // of 65536
	bits      uint64
	left      int
	stream    Stream
}

func (d *faultDice) init(seed uint64, kind Kind, rate float64) {
	d.stream.init(seed, "fault/"+kind.String())
	switch {
	case rate >= 1:
		d.threshold = 1 << 16
	case rate > 0:
		d.threshold = max(1, uint32(rate*(1<<16)))
	}
}

func (d *faultDice) roll() bool {
	if d.threshold == 0 {
		return false
	}
	if d.left == 0 {
		d.bits, d.left = d.stream.Uint64(), 4
	}
	v := uint32(d.bits & 0xffff)
	d.bits >>= 16
	d.left--
	return v < d.threshold
}

// ofKind returns the n-th choice of kind, from 0.
func ofKind(set []Offer, kind Kind, n int) Choice {
	for i := range set {
		if set[i].Kind != kind {
			continue
		}
		if n == 0 {
			return set[i].Choice
		}
		n--
	}
	panic("unreachable: there are more than n")
}
