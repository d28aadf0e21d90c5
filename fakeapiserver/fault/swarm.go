package fault

import (
	"math"

	"github.com/informersim/informersim/sim"
)

// DrawHalf returns the mix of the run with that seed, like Draw, but the kinds that a seed leaves out are those that its
// neighbour has: of the seeds 1 and 2, 3 and 4, and so on, exactly one has each kind. So a few seeds that begin with 1 are sure to have
// them all, which independent draws are not.
func (m Mix) DrawHalf(seed uint64) Mix {
	if !m.Swarm {
		return m
	}
	halves, powers := sim.NewStream((seed+1)/2, "fault-mix/halves"), sim.NewStream(seed, "fault-mix/powers")
	drawn := Mix{Name: m.Name, Max: m.Max, Rates: map[string]float64{}}
	for i := range table {
		if table[i].Tier == Others {
			continue // drawAdded
		}
		on, power := halves.IntN(2) == int(seed&1), powers.IntN(5)-2 // for every kind, as in Draw
		name := string(table[i].Kind)
		if rate := m.Rates[name]; on && rate > 0 {
			drawn.Rates[name] = min(1, math.Ldexp(rate, power))
		}
	}
	m.drawAdded(drawn, func() (bool, int) { return halves.IntN(2) == int(seed&1), powers.IntN(5) - 2 })
	return drawn
}
