package keytable

import (
	"math/bits"
	"unsafe"
)

// Table holds at most one value per key. The zero value is empty. It is not safe for concurrent use.
type Table[V any] struct {
	slots []slot[V] // its length is a power of two; at most three quarters are used
	n     int
}

// slot is free if value is nil.
type slot[V any] struct {
	key   *byte
	size  uint32
	hash  uint32
	value *V
}

func (s *slot[V]) holds(key string, h uint32) bool {
	if s.hash != h || int(s.size) != len(key) {
		return false
	}
	return s.key == unsafe.StringData(key) || unsafe.String(s.key, s.size) == key
}

// minSlots is the size of the smallest non-empty table.
const minSlots = 8

// Len returns the number of keys.
func (t *Table[V]) Len() int { return t.n }

// Get returns the value of a key, nil if there is none.
func (t *Table[V]) Get(key string) *V {
	if t.n == 0 {
		return nil
	}
	mask := uint32(len(t.slots) - 1)
	h := hash(key)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.value == nil || s.holds(key, h) {
			return s.value
		}
	}
}

// Adopt is like Get, but stores key in place of the equal string in the table: the next lookup with it is faster.
func (t *Table[V]) Adopt(key string) *V {
	if t.n == 0 {
		return nil
	}
	mask := uint32(len(t.slots) - 1)
	h := hash(key)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.value == nil {
			return nil
		}
		if s.holds(key, h) {
			if k := unsafe.StringData(key); k != s.key {
				s.key = k
			}
			return s.value
		}
	}
}

// Put sets the value of a key, and retains the string. It panics if the value is nil, since Get returns nil for no value.
func (t *Table[V]) Put(key string, v *V) {
	if v == nil {
		panic("keytable: Put of a nil value: use Delete")
	}
	if 4*(t.n+1) > 3*len(t.slots) {
		t.resize(max(minSlots, 2*len(t.slots)))
	}
	s := t.slotFor(key, hash(key))
	if s.value == nil {
		t.n++
	}
	s.value = v
}

// slotFor returns the slot of a key, claiming a free one if it has none.
func (t *Table[V]) slotFor(key string, h uint32) *slot[V] {
	mask := uint32(len(t.slots) - 1)
	for i := h & mask; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.value == nil {
			s.key, s.size, s.hash = unsafe.StringData(key), uint32(len(key)), h
			return s
		}
		if s.holds(key, h) {
			return s
		}
	}
}

func (t *Table[V]) resize(n int) {
	old := t.slots
	t.slots = make([]slot[V], n)
	mask := uint32(n - 1)
	for _, s := range old {
		if s.value == nil {
			continue
		}
		i := s.hash & mask
		for t.slots[i].value != nil {
			i = (i + 1) & mask
		}
		t.slots[i] = s
	}
}

// Delete removes a key and reports whether it was there.
func (t *Table[V]) Delete(key string) bool {
	if t.n == 0 {
		return false
	}
	mask := uint32(len(t.slots) - 1)
	h := hash(key)
	i := h & mask
	for ; ; i = (i + 1) & mask {
		s := &t.slots[i]
		if s.value == nil {
			return false
		}
		if s.holds(key, h) {
			break
		}
	}
	// Move later entries of the run into the gap, unless that would put them before their home slot.
	for j := (i + 1) & mask; t.slots[j].value != nil; j = (j + 1) & mask {
		if (j-t.slots[j].hash)&mask >= (j-i)&mask {
			t.slots[i] = t.slots[j]
			i = j
		}
	}
	t.slots[i] = slot[V]{}
	t.n--
	if len(t.slots) > 64 && 8*t.n < len(t.slots) {
		t.resize(len(t.slots) / 4)
	}
	return true
}

// Arbitrary odd constants: the fractional digits of the square roots of 2 and 3.
const (
	saltA = 0x6a09e667f3bcc909
	saltB = 0xbb67ae8584caa73b
)

// hash folds 16 bytes at a time with a multiplication, as wyhash does. It is the same in every process.
func hash(s string) uint32 {
	n := len(s)
	acc := uint64(n) ^ saltA
	var v, w uint64
	switch {
	case n > 16:
		for left := s; len(left) > 16; left = left[16:] {
			acc = fold(acc^word(left), word(left[8:])^saltB)
		}
		v, w = word(s[n-16:]), word(s[n-8:]) // may overlap bytes already read
	case n >= 8:
		v, w = word(s), word(s[n-8:])
	case n >= 4:
		v, w = halfWord(s), halfWord(s[n-4:])
	case n > 0:
		v, w = uint64(s[0])<<8|uint64(s[n/2]), uint64(s[n-1])
	}
	return uint32(fold(acc^v, w^saltB) >> 32)
}

func fold(a, b uint64) uint64 {
	hi, lo := bits.Mul64(a, b)
	return hi ^ lo
}

// word reads eight bytes as little endian on every machine. The compiler turns it into one load.
func word(s string) uint64 {
	_ = s[7]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24 |
		uint64(s[4])<<32 | uint64(s[5])<<40 | uint64(s[6])<<48 | uint64(s[7])<<56
}

func halfWord(s string) uint64 {
	_ = s[3]
	return uint64(s[0]) | uint64(s[1])<<8 | uint64(s[2])<<16 | uint64(s[3])<<24
}
