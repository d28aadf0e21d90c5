package store

import (
	"encoding/binary"
	"encoding/hex"

	"github.com/cespare/xxhash/v2"
	"k8s.io/apimachinery/pkg/types"
)

// seededUID returns the uid of the object created at rev in the run with that seed, which a replay reproduces.
func seededUID(seed uint64, rev int64) types.UID {
	var in [16]byte
	binary.LittleEndian.PutUint64(in[:8], seed)
	binary.LittleEndian.PutUint64(in[8:], uint64(rev))
	var raw [16]byte
	binary.BigEndian.PutUint64(raw[:8], xxhash.Sum64(in[:]))
	in[0] ^= 0xff
	binary.BigEndian.PutUint64(raw[8:], xxhash.Sum64(in[:]))
	raw[6] = raw[6]&0x0f | 0x40 // version 4
	raw[8] = raw[8]&0x3f | 0x80 // variant of RFC 9562
	var text [36]byte
	hex.Encode(text[0:8], raw[0:4])
	hex.Encode(text[9:13], raw[4:6])
	hex.Encode(text[14:18], raw[6:8])
	hex.Encode(text[19:23], raw[8:10])
	hex.Encode(text[24:36], raw[10:16])
	text[8], text[13], text[18], text[23] = '-', '-', '-', '-'
	return types.UID(text[:])
}

// Mint returns a uid for an object to be created, and length characters of an alphabet for its generated name. They are
// determined by the seed, the revision, and the number of calls at that revision.
func (s *Store) Mint(alphabet string, length int) (types.UID, string) {
	if s.mintedAt != s.revision {
		s.mintedAt, s.minted = s.revision, 0
	}
	s.minted++
	uid := seededUID(s.seed^s.minted<<40, s.revision+1)
	n := xxhash.Sum64String(string(uid))
	suffix := make([]byte, length)
	for i := range suffix {
		suffix[i] = alphabet[n%uint64(len(alphabet))]
		n /= uint64(len(alphabet))
	}
	return uid, string(suffix)
}
