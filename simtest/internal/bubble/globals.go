package bubble

import (
	cryptorand "crypto/rand"
	"encoding/binary"
	"math/rand"
	randv2 "math/rand/v2"
	"sync"

	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
)

// takeOver sets up the process-wide state that Kubernetes' libraries read, and returns a function that restores it:
//
//   - math/rand's global source, from which backoffs, jitters and watch timeouts are drawn (k8s.io/apimachinery's wait,
//     client-go's reflector). Its former state cannot be restored, so afterwards it gets a random seed.
//   - crypto/rand.Reader, from which uids and names are made.
//   - utilruntime.ErrorHandlers: the default ones keep the time of the last error in a package variable and throttle by it,
//     which in a later bubble means sleeping for decades.
//   - utilruntime.PanicHandlers and ReallyCrash, which a program in the bubble may set.
//   - klog, which would write to the terminal. A run may set a logger of its own, which is restored with the rest.
func takeOver(seed uint64) (restore func()) {
	unmute := mute()
	handlers := utilruntime.ErrorHandlers
	utilruntime.ErrorHandlers = nil
	panicHandlers, reallyCrash := utilruntime.PanicHandlers, utilruntime.ReallyCrash
	seedGlobalRand(sourceSeed(seed))
	reader := cryptorand.Reader
	var key [32]byte
	binary.LittleEndian.PutUint64(key[:], seed)
	cryptorand.Reader = &lockedReader{r: randv2.NewChaCha8(key)}
	return func() {
		cryptorand.Reader = reader
		seedGlobalRand(int64(randv2.Uint64()))
		utilruntime.ErrorHandlers = handlers
		utilruntime.PanicHandlers, utilruntime.ReallyCrash = panicHandlers, reallyCrash
		unmute()
	}
}

// lockedReader makes a generator safe for concurrent use, like crypto/rand.Reader.
type lockedReader struct {
	mu sync.Mutex
	r  *randv2.ChaCha8
}

func (l *lockedReader) Read(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.r.Read(p)
}

// seedGlobalRand seeds math/rand's global source.
func seedGlobalRand(seed int64) {
	//lint:ignore SA1019 there is no other way to seed it
	rand.Seed(seed)
}

// sourceSeed is the seed of math/rand's source for a run's seed, the same as sim.SourceSeed.
func sourceSeed(seed uint64) int64 {
	seed ^= 0x9e3779b97f4a7c15
	seed *= 0xbf58476d1ce4e5b9
	return int64(seed ^ seed>>31)
}
