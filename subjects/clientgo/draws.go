package clientgo

import (
	"math/rand"

	"github.com/informersim/informersim/sim"
	"github.com/informersim/informersim/subjects"
)

// All informers of a process draw from one source, so what one draws depends on what the others have drawn before, and on
// who took a step first. That is how it is, but it makes runs hard to compare with those of another engine. With fixed draws
// every step draws the same numbers, the first ones of the seed's sequence.

// NewWithFixedDraws is New with fixed draws.
func NewWithFixedDraws(env subjects.Env) subjects.Subject {
	s := New(env).(*Subject)
	if s.bubble != nil {
		s.reseed = func() { seedGlobal(s.bubble.job.seed) }
	}
	return s
}

// fixedDraws is how many draws of one step are fixed. No step of an informer has more than a few.
const fixedDraws = 32

// FixedDraws are the numbers that a client-go with fixed draws draws in a run of that seed, for a subject that runs on k.
func FixedDraws(seed uint64) func(k *sim.Kernel) func() float64 {
	var numbers [fixedDraws]float64
	r := rand.New(rand.NewSource(randomSeed(seed)))
	for n := range numbers {
		numbers[n] = r.Float64()
	}
	return func(k *sim.Kernel) func() float64 {
		step, next := uint64(0), 0
		return func() float64 {
			if now := k.Steps(); now != step {
				step, next = now, 0
			}
			next++
			return numbers[(next-1)%fixedDraws]
		}
	}
}
