package properties

import "github.com/informersim/informersim/sim"

// stepsPerRound are as many steps as cost ten to twenty-five times what a round of calls costs that is made at the end of a run and has nothing to do with it.
const stepsPerRound = 1024

// rounds says how many such rounds a run makes, at most some. Transcripts and runs that are shrunk make all of them. Where many runs are made, it is one for
// each 1,024 steps, and for what is left over one with that probability, for which the seed decides: so they take the same share of the time of all runs,
// however long these are.
func rounds(w World, most uint64) uint64 {
	if !w.Explores() {
		return most
	}
	return min(roundsOf(w.Kernel().Seed(), w.Kernel().Steps()), most)
}

func roundsOf(seed, steps uint64) uint64 {
	n := steps / stepsPerRound
	if uint64(sim.NewStream(seed, "rounds").IntN(stepsPerRound)) < steps%stepsPerRound {
		n++
	}
	return n
}
