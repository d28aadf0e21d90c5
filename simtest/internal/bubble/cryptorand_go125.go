//go:build !go1.26

package bubble

import "testing"

// seedCryptoRand does nothing: before go1.26 only crypto/rand.Reader can be replaced, which takeOver does.
func seedCryptoRand(*testing.T, uint64) {}
