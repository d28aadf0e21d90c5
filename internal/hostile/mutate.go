package main

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strings"
)

// newRand returns the random numbers of an input, by its name alone: one input can be made without the others.
func newRand(seed uint64, id string) *rand.Rand {
	h := fnv.New64a()
	_, _ = h.Write([]byte(id)) // never fails
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// mutator changes an input's bytes.
type mutator struct {
	name   string
	change func(r *rand.Rand, data []byte) []byte
}

// byteMutators know nothing of the format.
var byteMutators = []mutator{
	{"empty", func(*rand.Rand, []byte) []byte { return nil }},
	// Within a line: a trace that ends between two of them is that of a run that was killed, which is no bad input.
	{"cut", func(r *rand.Rand, data []byte) []byte {
		return bytes.TrimRight(data[:1+r.IntN(max(len(bytes.TrimSpace(data))-2, 1))], "\n")
	}},
	{"cut-start", func(r *rand.Rand, data []byte) []byte { return data[1+r.IntN(len(data)-1):] }},
	{"flip", func(r *rand.Rand, data []byte) []byte {
		data = slices.Clone(data)
		for range 1 + r.IntN(4) {
			data[r.IntN(len(data))] ^= 1 << r.IntN(8)
		}
		return data
	}},
	{"drop-line", lines(func(r *rand.Rand, l [][]byte) [][]byte { i := r.IntN(len(l)); return slices.Delete(l, i, i+1) })},
	{"repeat-line", lines(func(r *rand.Rand, l [][]byte) [][]byte { i := r.IntN(len(l)); return slices.Insert(l, i, l[i]) })},
	{"swap-lines", lines(func(r *rand.Rand, l [][]byte) [][]byte {
		i, j := r.IntN(len(l)), r.IntN(len(l))
		l[i], l[j] = l[j], l[i]
		return l
	})},
	{"nul", insert("\x00")},
	{"control", insert("\x1b[2J\x07")},
	{"not-utf8", insert("\xff\xfe")},
	{"bidi", insert("\u202e\u2066")},
	{"bom", func(_ *rand.Rand, data []byte) []byte { return append([]byte("\ufeff"), data...) }},
	{"utf16", func(_ *rand.Rand, data []byte) []byte {
		out := []byte("\xff\xfe")
		for _, b := range data {
			out = append(out, b, 0)
		}
		return out
	}},
	{"crlf", func(_ *rand.Rand, data []byte) []byte { return bytes.ReplaceAll(data, []byte("\n"), []byte("\r\n")) }},
	{"long-line", insert(strings.Repeat("x", 1<<20))},
	{"deep", insert(strings.Repeat(`[`, 100_000))},
	{"deep-objects", insert(strings.Repeat(`{"a":`, 50_000))},
	{"format-verbs", insert("%!d(MISSING)%n%s")},
	{"numbers", func(r *rand.Rand, data []byte) []byte {
		at := digits(data)
		if len(at) == 0 {
			return data
		}
		i := at[r.IntN(len(at))]
		huge := []string{"99999999999999999999999999", "-1", "1e999", "0x7fffffff", "9223372036854775807", "-0", "1.5", "NaN"}
		return slices.Concat(data[:i], []byte(huge[r.IntN(len(huge))]), data[i+1:])
	}},
	{"other-format", func(r *rand.Rand, _ []byte) []byte {
		others := []string{"\x7fELF\x02\x01\x01", "\x1f\x8b\x08\x00\x00", "PK\x03\x04", "<!DOCTYPE html>\n<html>", "null", "[]", "{}", "0", `""`, "true", "---\n---\n"}
		return []byte(others[r.IntN(len(others))])
	}},
}

func lines(change func(*rand.Rand, [][]byte) [][]byte) func(*rand.Rand, []byte) []byte {
	return func(r *rand.Rand, data []byte) []byte {
		return bytes.Join(change(r, bytes.SplitAfter(bytes.Clone(data), []byte("\n"))), nil)
	}
}

func insert(text string) func(*rand.Rand, []byte) []byte {
	return func(r *rand.Rand, data []byte) []byte {
		i := r.IntN(len(data) + 1)
		return slices.Concat(data[:i], []byte(text), data[i:])
	}
}

// digits returns where single digits are that stand alone.
func digits(data []byte) (at []int) {
	isDigit := func(i int) bool { return i >= 0 && i < len(data) && data[i] >= '0' && data[i] <= '9' }
	for i := range data {
		if isDigit(i) && !isDigit(i-1) && !isDigit(i+1) {
			at = append(at, i)
		}
	}
	return at
}

// mutation is a mutated input.
type mutation struct {
	id   string
	name string // the mutator
	data []byte
}

// mutations makes n mutations with each mutator.
func (c config) mutations(prefix string, data []byte, n int, mutators ...[]mutator) []mutation {
	var all []mutation
	for _, m := range slices.Concat(mutators...) {
		seen := map[string]bool{string(data): true}
		for i := range n {
			id := fmt.Sprintf("%s/%s-%d", prefix, m.name, i+1)
			changed := m.change(newRand(c.seed, id), data)
			if !seen[string(changed)] { // each input once
				seen[string(changed)] = true
				all = append(all, mutation{id: id, name: m.name, data: changed})
			}
		}
	}
	return all
}
