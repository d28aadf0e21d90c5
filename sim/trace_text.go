package sim

import (
	"encoding/binary"
	"encoding/json"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// This file formats the texts, numbers and hashes of a trace, several million per second.

// quotedText caches the JSON form of a text: the same text is often written several times in a row.
type quotedText struct {
	text   string
	quoted []byte
}

func (q *quotedText) append(b []byte, text string) []byte {
	if q.quoted == nil || text != q.text {
		q.text = text
		q.quoted = appendQuoted(q.quoted[:0], text)
	}
	return append(b, q.quoted...)
}

// plain holds true for the bytes that encoding/json writes unescaped in a string.
var plain = plainBytes()

func plainBytes() (table [256]bool) {
	for c := range table {
		table[c] = c >= 0x20 && c < utf8.RuneSelf && !strings.ContainsRune(`"\<>&`, rune(c))
	}
	return table
}

// appendQuoted appends s as a JSON string.
func appendQuoted(b []byte, s string) []byte {
	for i := range len(s) {
		if !plain[s[i]] {
			q, _ := json.Marshal(s) // never fails for a string
			return append(b, q...)
		}
	}
	b = append(b, '"')
	b = append(b, s...)
	return append(b, '"')
}

// FormatHash formats a hash as traces and verdicts show it: 16 hexadecimal digits.
func FormatHash(h uint64) string { return string(appendHash(nil, h)) }

func appendHash(b []byte, h uint64) []byte {
	n := len(b)
	b = append(b, "0123456789abcdef"...)
	binary.BigEndian.PutUint64(b[n:], hexDigits(uint32(h>>32)))
	binary.BigEndian.PutUint64(b[n+8:], hexDigits(uint32(h)))
	return b
}

// hexDigits returns the eight hexadecimal digits of v, the first in the highest byte, computed in parallel.
func hexDigits(v uint32) uint64 {
	x := uint64(v)
	x = (x | x<<16) & 0x0000ffff0000ffff
	x = (x | x<<8) & 0x00ff00ff00ff00ff
	x = (x | x<<4) & 0x0f0f0f0f0f0f0f0f // one digit per byte
	letter := (x + 0x0606060606060606) >> 4 & 0x0101010101010101
	return x + 0x3030303030303030 + letter*('a'-'0'-10)
}

// decimal formats numbers that are usually equal to the previous one, or its successor: revisions and times.
type decimal struct {
	value uint64
	text  [20]byte // the digits begin at start
	start int
}

func newDecimal() decimal {
	d := decimal{start: 19}
	d.text[19] = '0'
	return d
}

func (d *decimal) append(b []byte, v uint64) []byte {
	switch {
	case v == d.value:
	case v == d.value+1 && v != 0:
		d.increment()
	default:
		d.set(v)
	}
	return append(b, d.text[d.start:]...)
}

// appendSigned is append for numbers that may, rarely, be negative.
func (d *decimal) appendSigned(b []byte, v int64) []byte {
	if v < 0 {
		return strconv.AppendInt(b, v, 10)
	}
	return d.append(b, uint64(v))
}

// appendNext is append for numbers that mostly count up. It formats the next number in advance: reading bytes just after
// they were written one by one stalls the processor.
func (d *decimal) appendNext(b []byte, v uint64) []byte {
	if v != d.value {
		d.set(v)
	}
	b = append(b, d.text[d.start:]...)
	if v < math.MaxUint64 {
		d.increment()
	}
	return b
}

func (d *decimal) increment() {
	d.value++
	i := len(d.text) - 1
	for ; i >= d.start && d.text[i] == '9'; i-- {
		d.text[i] = '0'
	}
	if i < d.start {
		d.start = i
		d.text[i] = '1'
		return
	}
	d.text[i]++
}

func (d *decimal) set(v uint64) {
	d.value = v
	i := len(d.text)
	for ; v >= 100; v /= 100 {
		i -= 2
		two := v % 100 * 2
		d.text[i], d.text[i+1] = twoDigits[two], twoDigits[two+1]
	}
	if v >= 10 {
		i--
		d.text[i] = '0' + byte(v%10)
		v /= 10
	}
	i--
	d.text[i] = '0' + byte(v)
	d.start = i
}

const twoDigits = "00010203040506070809" +
	"10111213141516171819" +
	"20212223242526272829" +
	"30313233343536373839" +
	"40414243444546474849" +
	"50515253545556575859" +
	"60616263646566676869" +
	"70717273747576777879" +
	"80818283848586878889" +
	"90919293949596979899"
