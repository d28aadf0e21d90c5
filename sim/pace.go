package sim

import "math/bits"

// paces makes some actors slow for a while: equal odds at every step never let a queue fill up or a handler fall behind
// during a whole network outage, and that is where the bugs are. A run is cut into phases; in each, an actor runs at full
// pace, or is 4 to 1024 times less likely to be picked than the others. Time has a pace too.
//
// Paces are computed from seed, phase and actor, not drawn, so that they do not depend on which actors exist.
type paces struct {
	seed  uint64
	phase uint64
	picks uint64 // made so far; faults do not count, so that they shift no phase
	until uint64 // the value of picks at which the next phase begins
	time  uint64 // what a draw must lack for time to pass: as many low bits as time is slow in this phase
	even  bool   // all actors are equally fast throughout the run
}

// The powers of two by which an actor, or time, is slowed down in a phase.
var (
	actorPaces = [16]uint8{0, 0, 0, 0, 0, 0, 0, 0, 0, 2, 2, 4, 4, 6, 8, 10}
	timePaces  = [8]uint8{3, 5, 6, 6, 6, 7, 7, 8}
)

// evenPace is the pace of time while all actors are equally fast.
const evenPace = 6

func newPaces(seed uint64) paces {
	// A quarter of all runs has no slow actor: bugs that need none are found sooner there.
	return paces{seed: mix(seed, 0x70616365), even: mix(seed, 0x6576656e)&3 == 0}
}

func mix(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a^0x9e3779b97f4a7c15, b^0xbf58476d1ce4e5b9)
	return hi ^ lo
}

// next moves to the phase of the next pick. Phases are 16 to 527 picks long.
func (p *paces) next() {
	p.picks++
	for p.picks >= p.until {
		p.phase++
		p.until += 16 + mix(p.seed, p.phase)&511
		p.time = 1<<p.ofTime() - 1
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

// maxTries bounds how often a draw is rejected for being slow. When every enabled action is slow, the last one drawn is
// taken.
const maxTries = 64

// pick draws among the actions and, if time may pass, time; the slower one is, the less likely it is picked.
func (p *paces) pick(r *Ready, s *Stream) Choice {
	p.next()
	n := len(r.Actions)
	candidates := n
	if r.Time {
		candidates++
	}
	last := 0
	for range maxTries {
		u := s.pcg.Uint64() // a strategy's stream is not recorded
		hi, _ := bits.Mul64(u, uint64(candidates))
		if i := int(hi); i == n {
			if u&p.time == 0 {
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
