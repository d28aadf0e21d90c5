package properties

import "math/bits"

// stepsPerRound are as many steps as cost some twenty times what a round of calls costs that is made at the end of a run and has nothing to do with it.
const stepsPerRound = 1024

// rounds says how many such rounds a run of so many steps makes, at most some: one for each 1,024 steps, and for what is left over one with that
// probability, so that they take the same share of the time of all runs, however long these are. The number of steps decides, and nothing else does.
func rounds(steps, most uint64) uint64 {
	n := steps / stepsPerRound
	hi, lo := bits.Mul64(steps^0x9e3779b97f4a7c15, 0xd6e8feb86659fd93)
	if (hi^lo)%stepsPerRound < steps%stepsPerRound {
		n++
	}
	return min(n, most)
}
