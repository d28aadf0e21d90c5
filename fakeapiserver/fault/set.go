package fault

// Set is a set of kinds: a bit for each, in the order of the table.
type Set uint64

// SetOf is the set of these kinds; unknown ones are left out.
func SetOf(kinds ...Kind) (m Set) {
	for _, k := range kinds {
		if s := SpecOf(k); s != nil {
			m |= s.Set()
		}
	}
	return m
}

// At are the kinds that hit at a stage.
func At(s Stage) Set { return stageSets[s] }

var stageSets = buildStageSets()

func buildStageSets() (m [numStages]Set) {
	for i := range table {
		m[table[i].Stage] |= table[i].Set()
	}
	return m
}
