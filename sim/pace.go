package sim

import "math/bits"

// paces makes some actors slow for a while: an even chance for all, step after step, never lets a queue fill up or a
// handler fall behind while the network goes through a whole outage, and that is where the bugs are. A run is cut into
// phases; in each, an actor is picked readily, or 4 to 1024 times less readily than the others. Time has a pace too.
//
// Paces are computed from seed, phase and actor, not drawn, so that they do not depend on which actors there are.
type paces struct {
	seed  uint64
	phase uint64
	picks uint64 // made so far; faults do not count, so that they shift nothing
	until uint64 // how many picks there are when the next phase begins
	even  bool   // all alike, for ever
}

// The exponents of two by which an actor, or time, is slowed down in a phase.
var (
	actorPaces = [16]uint8{0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 4, 4, 6, 8, 10}
	timePaces  = [8]uint8{3, 5, 6, 6, 6, 7, 7, 8}
)

// evenPace is time's while actors are all alike.
const evenPace = 6

func newPaces(seed uint64) paces {
	// A quarter of all runs has no slow actor: what needs none is found sooner there.
	return paces{seed: mix(seed, 0x70616365), even: mix(seed, 0x6576656e)&3 == 0}
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xbf58476d1ce4e5b9)
	return hi ^ lo
}

// next turns to the phase of the next pick. Phases are 16 to 527 picks long.
func (p *paces) next() {
	p.picks++
	for p.picks >= p.until {
		p.phase++
		p.until += 16 + mix(p.seed, p.phase)&511
	}
}

func (p *paces) of(id ActorID) uint8 {
	if p.even {
		return 0
	}
	return actorPaces[mix(p.seed+p.phase, uint64(id)+1)>>7&15]
}

func (p *paces) ofTime() uint8 {
	if p.even {
		return evenPace
	}
	return timePaces[mix(p.seed+p.phase, 0x74696d65)>>7&7]
}

// maxTries bounds how often a pick is refused for being slow. Where all that is enabled is slow, the last one drawn is taken.
const maxTries = 64

// pick draws among the actions and, if time may pass, time; the slower, the less often.
func (p *paces) pick(r *Ready, s *Stream) Choice {
	p.next()
	n := len(r.Actions)
	candidates := n
	if r.Time {
		candidates++
	}
	last := 0
	for range maxTries {
		u := s.Uint64()
		hi, _ := bits.Mul64(u, uint64(candidates))
		if i := int(hi); i == n {
			if u&(1<<p.ofTime()-1) == 0 {
				return r.Advance
			}
		} else {
			if u&(1<<p.of(r.Actions[i].Actor)-1) == 0 {
				return r.Actions[i].Choice
			}
			last = i
		}
	}
	return r.Actions[last].Choice
}
