//go:build go1.26

package bubble

import (
	"testing"
	"testing/cryptotest"
)

// seedCryptoRand makes crypto/rand follow the seed until the test ends.
func seedCryptoRand(t *testing.T, seed uint64) { cryptotest.SetGlobalRandom(t, seed) }
