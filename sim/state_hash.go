package sim

import "github.com/cespare/xxhash/v2"

// stateHash is the hash of a state that a Search goes by, computed step by step. It is a sim.Observer.
//
// Each component has a chained hash of its steps and records, each with the time and the random numbers drawn; their combination
// does not depend on the order of steps of different components. What touches all components goes on from the combination.
type stateHash struct {
	k *Kernel
	o *SearchOptions

	base       uint64 // up to the last step that touched everything
	components []component
	byName     map[string]int
	of         []int  // the component of an actor
	sum        uint64 // of the components
	shared     uint64 // of the shared ones
	read       uint64 // what a step reads that reads the shared ones
	timers     uint64 // the steps that set timers: those of one instant fire in the order in which they were set
	lastTimer  uint64
	effect     Effect // of the current step
}

type component struct {
	salt, chain uint64
	shared      bool
}

// mixed is what a component contributes: nothing before its first step.
func (c *component) mixed() uint64 {
	if c.chain == 0 {
		return 0
	}
	return fold(c.chain^saltA, c.salt^saltB)
}

// digest returns the hash of the state before the next step.
func (h *stateHash) digest() uint64 {
	h.read = fold(h.base^saltB, h.shared^saltD)
	return fold(h.base^h.sum^saltC, h.timers^saltD)
}

// componentOf returns the component of an actor.
func (h *stateHash) componentOf(id ActorID) *component {
	for int(id) >= len(h.of) {
		name := h.k.ActorName(ActorID(len(h.of)))
		if h.o.Component != nil {
			name = h.o.Component(name)
		}
		n, known := h.byName[name]
		if !known {
			if h.byName == nil {
				h.byName = map[string]int{}
			}
			n = len(h.components)
			h.byName[name] = n
			h.components = append(h.components, component{salt: xxhash.Sum64String(name), shared: h.o.Shared == nil || h.o.Shared(name)})
		}
		h.of = append(h.of, n)
	}
	return &h.components[h.of[id]]
}

func (h *stateHash) add(c *component, v uint64) {
	was := c.mixed()
	c.chain = max(1, fold(c.chain^v, saltB))
	change := was ^ c.mixed()
	if h.sum ^= change; c.shared {
		h.shared ^= change
	}
}

// Record implements Observer.
func (h *stateHash) Record(r *Record) {
	key, _ := hashText(r.Key)
	detail, _ := hashText(r.Detail)
	acc := fold(h.k.actors[r.Actor].hash^saltA, h.k.kindHash(r.Kind))
	if h.effect != Timeless {
		acc = fold(acc^uint64(r.At), saltB)
	}
	acc = fold(acc^uint64(r.RV), uint64(r.N)^saltC)
	h.add(h.componentOf(r.Actor), fold(acc^key, detail^saltD))
}

// begin says what the next step is.
func (h *stateHash) begin(c Choice) {
	h.effect = TouchesAll
	if h.o.Effect != nil {
		h.effect = h.o.Effect(h.k, c)
	}
}

// StepEnd implements Observer.
func (h *stateHash) StepEnd(i *StepInfo) {
	c := i.Choice
	label := fold(h.k.actors[c.Actor].hash^saltB, h.k.kindHash(c.Kind)^uint64(c.Target))
	for _, d := range i.Draws {
		label = fold(label^d, saltD)
	}
	if set := h.k.clock.seq; set != h.lastTimer {
		h.lastTimer = set
		label = fold(label^uint64(i.At), saltC)
		h.timers = fold(h.timers^label, saltB)
	} else if h.effect != Timeless {
		label = fold(label^uint64(i.At), saltC)
	}
	switch h.effect {
	case TouchesOwn, Timeless:
		h.add(h.componentOf(c.Actor), label)
	case ReadsShared:
		h.add(h.componentOf(c.Actor), fold(label^h.read, saltA))
	default:
		h.base = fold(h.base^label, h.sum^saltA)
		h.sum, h.shared = 0, 0
		for n := range h.components {
			h.components[n].chain = 0
		}
	}
}
