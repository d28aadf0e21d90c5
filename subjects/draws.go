package subjects

import (
	"hash/fnv"
	"math/rand"

	"github.com/informersim/informersim/sim"
)

// Draws are the random numbers of a transcript: backoffs and watch timeouts. They depend on the seed and on what made an
// informer draw, not on what others have drawn before nor on the subject, so a transcript reads the same for every subject.
//
// client-go draws from math/rand's global source. That can be seeded, but not replaced, so these are the numbers of such
// sources.
type Draws struct {
	seed uint64
	who  string
	// source is of who; nil until the first draw.
	source *rand.Rand
}

// Who makes an informer do something, if not its connection ("conn/i1").
const (
	ByClock  = "clock"
	ByScript = "script"
)

// NewDraws returns the draws of a seed.
func NewDraws(seed uint64) *Draws { return &Draws{seed: seed} }

// Begin says who makes an informer do something now: its connection, the clock or the script. The numbers of who begin
// anew. It may be called on nil, and does nothing then.
func (d *Draws) Begin(who string) {
	if d != nil {
		d.who, d.source = who, nil
	}
}

// Source is the seed of a math/rand source that has the numbers of who.
func (d *Draws) Source(who string) int64 {
	h := fnv.New64a()
	h.Write([]byte(who)) // a hash takes everything
	return sim.SourceSeed(d.seed ^ h.Sum64())
}

// Float64 returns a number in [0,1).
func (d *Draws) Float64() float64 {
	if d.source == nil {
		d.source = rand.New(rand.NewSource(d.Source(d.who)))
	}
	return d.source.Float64()
}
