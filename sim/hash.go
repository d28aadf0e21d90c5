package sim

import (
	"math/bits"
	"strings"
	"time"
	"unicode/utf8"
)

// The chained hash of a step starts from the hash of the previous step and folds in, in this order: the choice (names as the
// xxHash64 of their text, so that the numbers given to kinds do not matter), the time at which it was taken, the records, the
// draws, and the count of both. The trace reader computes it again from the file and so detects an edited trace: it guards
// against accidents and nondeterminism, not against forgery.
//
// Folding multiplies 64 by 64 bits and XORs the halves of the product, as wyhash does: a step with one record costs about a
// dozen multiplications, and no buffer.

// Constants without a pattern: the fractional digits of the square roots of 2, 3, 5 and 7.
const (
	saltA = 0x6a09e667f3bcc909
	saltB = 0xbb67ae8584caa73b
	saltC = 0x3c6ef372fe94f82b
	saltD = 0xa54ff53a5f1d36f1
)

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

type hasher struct {
	hash    uint64 // of the last complete step
	acc     uint64 // of the current step
	records uint64 // of the current step
}

func (h *hasher) begin(actor, kind uint64, c Choice, at time.Duration) {
	acc := fold(h.hash^actor^saltA, kind^saltB)
	h.acc = fold(acc^(uint64(c.Target)<<32|uint64(c.Seq)), uint64(at)^saltC)
	h.records = 0
}

// record folds in a record and makes its texts valid UTF-8.
func (h *hasher) record(actor, kind uint64, r *Record) {
	key, seen := hashText(r.Key)
	detail, seenToo := hashText(r.Detail)
	if (seen|seenToo)&notASCII != 0 {
		r.Key, r.Detail = validText(r.Key), validText(r.Detail)
		key, detail = textHash(r.Key), textHash(r.Detail)
	}
	h.records++
	acc := fold(h.acc^actor, kind^saltA)
	acc = fold(acc^uint64(r.RV), uint64(r.N)^saltB)
	acc = fold(acc^key, detail^saltC)
	h.acc = fold(acc^uint64(r.At), saltD)
}

// end folds in the draws, and the counts that tell draws from the records before them.
func (h *hasher) end(draws []uint64) uint64 {
	acc := h.acc
	for _, d := range draws {
		acc = fold(acc^d, saltB)
	}
	h.hash = fold(acc^(h.records<<32|uint64(len(draws))), saltD)
	return h.hash
}

const notASCII = 0x8080808080808080

// hashText is the hash of a text, and all of its bytes or-ed together eight by eight: one look at it serves both the hash
// and the question whether it is ASCII, and so UTF-8.
func hashText(s string) (hash, seen uint64) {
	n := len(s)
	acc := uint64(n) ^ saltA
	var v, w uint64
	switch {
	case n > 16:
		for left := s; len(left) > 16; left = left[16:] {
			v, w = word(left), word(left[8:])
			acc, seen = fold(acc^v, w^saltB), seen|v|w
		}
		v, w = word(s[n-16:]), word(s[n-8:]) // may overlap what was read before
	case n >= 8:
		v, w = word(s), word(s[n-8:])
	case n >= 4:
		v, w = halfWord(s), halfWord(s[n-4:])
	case n > 0:
		v, w = uint64(s[0])<<8|uint64(s[n/2]), uint64(s[n-1])
	}
	return fold(acc^v, w^saltB), seen | v | w
}

// word reads eight bytes, the first one lowest whatever the machine. The compiler makes one load of it.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func halfWord(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}

// textHash is hashText of a text that was validated.
func textHash(s string) uint64 {
	h, _ := hashText(s)
	return h
}

// validText returns s with U+FFFD in place of invalid UTF-8.
func validText(s string) string {
	if utf8.ValidString(s) {
		return s
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}
