package sim

import (
	"math/bits"
	"math/rand/v2"

	"github.com/cespare/xxhash/v2"
)

// A Stream is one source of random numbers. Streams are split by concern (backoff jitter, watch timeouts, each kind of
// fault, the schedule), so that an extra draw from one does not shift the others.
//
// Draws from a recorded stream go into the trace, and a replay takes them from there instead of drawing. The streams of
// strategies are not recorded, because their picks are.
type Stream struct {
	kernel *Kernel // nil: not recorded
	pcg    rand.PCG
}

// init makes s the stream of that seed and name.
func (s *Stream) init(seed uint64, name string) { s.pcg.Seed(seed, xxhash.Sum64String(name)) }

// NewStream returns a stream that belongs to no kernel, for strategies and generators. The same seed and name give the same
// numbers on every machine.
func NewStream(seed uint64, name string) *Stream {
	s := &Stream{}
	s.init(seed, name)
	return s
}

// Uint64 returns 64 random bits.
func (s *Stream) Uint64() uint64 {
	if s.kernel == nil {
		return s.pcg.Uint64()
	}
	return s.kernel.draw(&s.pcg)
}

// Float64 returns a number in [0,1).
func (s *Stream) Float64() float64 { return float64(s.Uint64()>>11) / (1 << 53) }

// IntN returns a number in [0,n). It panics if n is not positive.
func (s *Stream) IntN(n int) int {
	if n <= 0 {
		panic("sim: IntN needs a positive number")
	}
	// The bias of one multiplication is below 2^-32 for any n that occurs here; always drawing once is worth more.
	hi, _ := bits.Mul64(s.Uint64(), uint64(n))
	return int(hi)
}

// Chance reports true with probability p.
func (s *Stream) Chance(p float64) bool { return s.Float64() < p }

// SourceSeed is the seed of a math/rand source for a run's seed. The sources of neighbouring seeds have nothing in common.
func SourceSeed(seed uint64) int64 {
	seed ^= 0x9e3779b97f4a7c15
	seed *= 0xbf58476d1ce4e5b9
	return int64(seed ^ seed>>31)
}
