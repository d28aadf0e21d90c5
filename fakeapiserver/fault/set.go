package fault

import "math/bits"

// Set is a set of kinds, one bit for each in the order of the table.
type Set uint64

// SetOf returns the set of these kinds; unknown ones are skipped.
func SetOf(kinds ...Kind) (m Set) {
	for _, k := range kinds {
		if s := SpecOf(k); s != nil {
			m |= s.Set()
		}
	}
	return m
}

// First returns the first kind of the table that the set has. It must not be empty.
func (m Set) First() *Spec { return &table[bits.TrailingZeros64(uint64(m))] }

// At returns the kinds that hit at a stage.
func At(s Stage) Set { return stageSets[s] }

var stageSets = buildStageSets()

func buildStageSets() (m [numStages]Set) {
	for i := range table {
		m[table[i].Stage] |= table[i].Set()
	}
	return m
}
