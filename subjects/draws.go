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
	seed    uint64
	cause   string
	drawn   int // how many numbers since Begin
	byCause map[string]*numbers
}

// numbers are those of a cause so far. A source takes longer to make than thousands of numbers to draw, and most causes begin again and again.
type numbers struct {
	source *rand.Rand
	first  []float64
}

// Causes of draws other than an informer's connection ("conn/i1").
const (
	ByClock  = "clock"
	ByScript = "script"
)

// NewDraws returns the draws of a seed.
func NewDraws(seed uint64) *Draws { return &Draws{seed: seed, byCause: map[string]*numbers{}} }

// Begin sets the cause of the following draws: an informer's connection, the clock or the script. The cause's numbers start over.
// On nil it does nothing.
func (d *Draws) Begin(cause string) {
	if d != nil {
		d.cause, d.drawn = cause, 0
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
	n := d.byCause[d.cause]
	if n == nil {
		n = &numbers{source: rand.New(rand.NewSource(d.Source(d.cause)))}
		d.byCause[d.cause] = n
	}
	if d.drawn == len(n.first) {
		n.first = append(n.first, n.source.Float64())
	}
	d.drawn++
	return n.first[d.drawn-1]
}
