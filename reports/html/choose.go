package html

import (
	"github.com/informersim/informersim/reports/timeline"
)

// dataBudget is the size of the data that the diagram is drawn from, in bytes, before what the page itself needs.
const dataBudget = 800_000

// gapBytes is what a stretch that is left out costs: it has one line, and what it changed.
const gapBytes = 220

// choice says which steps a report has.
type choice struct {
	keep []bool // by index of step
	kept int
}

// choose keeps the steps that matter within a budget: the violation and its evidence, what happened before it, the steps about its object,
// the last faults and commands, and the beginning of the run. Without a violation, the end of the run takes its place.
func choose(t *timeline.Timeline, involved map[string]bool, budget int) choice {
	n := len(t.Steps)
	c := choice{keep: make([]bool, n)}
	if n == 0 {
		return c
	}
	focus := n - 1
	take := func(i, of int) bool {
		if i < 0 || i >= n || c.keep[i] {
			return true
		}
		size := sizeOf(&t.Steps[i]) + gapBytes/8
		if size > of || size > budget {
			return false
		}
		c.keep[i] = true
		c.kept++
		budget -= size
		return true
	}
	if v := t.Conclusion.Violation; v != nil {
		focus = min(max(int(v.Step)-1, 0), n-1)
		for _, e := range v.Because {
			take(int(e.Step)-1, budget)
		}
	}
	take(focus, budget)
	// scattered takes the steps that matter, the last ones first, within a part of the budget.
	scattered := func(part int, matters func(*timeline.Step) bool) {
		limit := budget - budget/part
		for i := focus; i >= 0 && budget-gapBytes > limit; i-- {
			if s := &t.Steps[i]; !c.keep[i] && matters(s) {
				if !take(i, budget-limit) {
					return
				}
				budget -= gapBytes
			}
		}
	}
	after := budget - budget/8
	for i := focus + 1; i < n && budget > after && take(i, budget-after); i++ {
	}
	if total := total(t); total > budget {
		scattered(4, func(s *timeline.Step) bool { return about(s, involved) })
		scattered(8, func(s *timeline.Step) bool { return notable(s) })
		begin := budget - budget/8
		for i := 0; i < focus && budget > begin && take(i, budget-begin); i++ {
		}
	}
	for i := focus; i >= 0 && take(i, budget); i-- {
	}
	return c
}

func total(t *timeline.Timeline) int {
	sum := 0
	for i := range t.Steps {
		sum += sizeOf(&t.Steps[i])
	}
	return sum
}

func about(s *timeline.Step, involved map[string]bool) bool {
	for _, key := range s.Keys {
		if involved[key] {
			return true
		}
	}
	return false
}

// notable reports whether a step explains others: a fault hit, a watch broke, a list took effect.
func notable(s *timeline.Step) bool {
	for _, m := range s.Marks {
		if m.Shape != timeline.ShapeEvent && m.Shape != timeline.ShapeWrite {
			return true
		}
	}
	return false
}

// sizeOf estimates the size of a step in a report's data.
func sizeOf(s *timeline.Step) int {
	size := 40 + min(len(s.Choice), maxText)/4
	for _, text := range s.Texts {
		size += min(len(text), maxText) + 8
	}
	for _, key := range s.Keys {
		size += min(len(key), maxText) / 4
	}
	return size + 5*len(s.Marks) + 14*len(s.Arrows) + 18*len(s.Effects) + 5*len(s.Keys)
}
