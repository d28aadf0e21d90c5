package subjects

import (
	"hash/fnv"
	"math/rand"

	"github.com/informersim/informersim/sim"
)

// Draws are the random numbers of a transcript: backoffs and watch timeouts. They depend on the seed and on the cause of a draw,
// not on other draws nor on the subject, so a transcript reads the same for every subject.
//
// client-go draws from math/rand's global source, which can be seeded but not replaced, so the numbers are those of seeded
// math/rand sources.
type Draws struct {
	seed  uint64
	cause string
	// source belongs to cause; nil until the first draw.
	source *rand.Rand
}

// Causes of draws other than an informer's connection ("conn/i1").
const (
	ByClock  = "clock"
	ByScript = "script"
)

// NewDraws returns the draws of a seed.
func NewDraws(seed uint64) *Draws { return &Draws{seed: seed} }

// Begin sets the cause of the following draws: an informer's connection, the clock or the script. The cause's numbers start over.
// On nil it does nothing.
func (d *Draws) Begin(cause string) {
	if d != nil {
		d.cause, d.source = cause, nil
	}
}

// Source returns the seed of the math/rand source of a cause.
func (d *Draws) Source(cause string) int64 {
	h := fnv.New64a()
	h.Write([]byte(cause)) // never fails
	return sim.SourceSeed(d.seed ^ h.Sum64())
}

// Float64 returns a number in [0,1).
func (d *Draws) Float64() float64 {
	if d.source == nil {
		d.source = rand.New(rand.NewSource(d.Source(d.cause)))
	}
	return d.source.Float64()
}
