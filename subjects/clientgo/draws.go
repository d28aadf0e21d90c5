package clientgo

import (
	"math/rand"

	"github.com/cespare/xxhash/v2"

	"github.com/informersim/informersim/subjects"
)

// All informers of a process draw from one source, so what one draws depends on what the others have drawn before, and on
// who took a step first. That is how it is, but it makes a run hard to compare with one of another engine. With fixed draws
// the source begins anew whenever something happens to an informer: with the numbers that belong to it, to the script, or to
// the clock, whichever made it happen.

// Who makes something happen, if not the connection of an informer.
const (
	drawsOfClock  = "clock"
	drawsOfScript = "script"
)

// NewWithFixedDraws is New with fixed draws.
func NewWithFixedDraws(env subjects.Env) subjects.Subject {
	s := New(env).(*Subject)
	if s.bubble != nil {
		s.reseed = func(who string) { seedGlobal(drawSeed(s.bubble.job.seed, who)) }
	}
	return s
}

// begin tells who makes something happen now.
func (s *Subject) begin(who string) {
	if s.reseed != nil {
		s.reseed(who)
	}
}

func drawSeed(seed uint64, who string) uint64 { return seed ^ xxhash.Sum64String(who) }

// Draws are the numbers that a client-go with fixed draws draws in a run of that seed, for another subject.
type Draws struct {
	seed    uint64
	sources map[string]*rand.Rand
	now     string
}

// FixedDraws returns the numbers of a seed.
func FixedDraws(seed uint64) *Draws { return &Draws{seed: seed, sources: map[string]*rand.Rand{}} }

// Begin implements stack.Draws: "conn/i1" makes something happen, "script" or "clock".
func (d *Draws) Begin(who string) {
	delete(d.sources, who)
	d.now = who
}

// Float64 implements stack.Draws.
func (d *Draws) Float64() float64 {
	r := d.sources[d.now]
	if r == nil {
		r = rand.New(rand.NewSource(randomSeed(drawSeed(d.seed, d.now))))
		d.sources[d.now] = r
	}
	return r.Float64()
}
