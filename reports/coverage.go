package reports

// States of a reflector, as far as the network shows them, in the order in which one goes through them.
const (
	StateIdle      = "not begun"
	StateLists     = "lists"
	StateStreams   = "streams a list"
	StateOpens     = "opens a watch"
	StateWatches   = "watches"
	StateUnwatched = "has lost its watch"
	StateRefused   = "was refused"
	StateBacksOff  = "backs off"
	StateWrites    = "no reflector" // a client that only writes
)

// ReflectorStates are all of them.
var ReflectorStates = []string{StateIdle, StateLists, StateStreams, StateOpens, StateWatches, StateUnwatched, StateRefused, StateBacksOff, StateWrites}

// A Coverage counts what faults have met, in a run or in many.
type Coverage struct {
	// Meets counts, by fault and state of a reflector, how often the one hit the other. A fault of a replica or of the store hits every reflector.
	Meets map[string]map[string]int `json:"meets,omitempty"`
	// Pairs counts, by two faults, how often the second was the next one of a run after the first.
	Pairs map[string]map[string]int `json:"pairs,omitempty"`
}

// Meet counts that a fault has hit a reflector in a state.
func (c *Coverage) Meet(fault, state string) { c.Meets = counted(c.Meets, fault, state, 1) }

// Pair counts that a fault came next after another one.
func (c *Coverage) Pair(first, next string) { c.Pairs = counted(c.Pairs, first, next, 1) }

// Add adds what another one has counted; nil is nothing.
func (c *Coverage) Add(o *Coverage) {
	if o == nil {
		return
	}
	for a, row := range o.Meets { // order: they are summed up
		for b, n := range row { // order: they are summed up
			c.Meets = counted(c.Meets, a, b, n)
		}
	}
	for a, row := range o.Pairs { // order: they are summed up
		for b, n := range row { // order: they are summed up
			c.Pairs = counted(c.Pairs, a, b, n)
		}
	}
}

func counted(m map[string]map[string]int, a, b string, n int) map[string]map[string]int {
	if m == nil {
		m = map[string]map[string]int{}
	}
	if m[a] == nil {
		m[a] = map[string]int{}
	}
	m[a][b] += n
	return m
}
