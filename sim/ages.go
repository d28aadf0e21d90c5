package sim

import (
	"cmp"
	"slices"
	"sort"
)

// crowd is the number of actions above which they are kept in a queue by age. Scanning fewer is faster than keeping a queue.
const crowd = 64

// ages orders the actions of a large ready set by age, for a kernel that always picks the oldest: a thousand watches with
// frames to deliver must not be scanned for each frame.
type ages struct {
	kept  bool    // the queue holds all actions; otherwise none
	queue []Offer // oldest first, starting at head
	head  int
}

// compareAges is the order in which fifo picks: by age, and canonical order among equals.
func compareAges(a, b Offer) int {
	if a.Stamp != b.Stamp {
		return cmp.Compare(a.Stamp, b.Stamp)
	}
	return cmp.Compare(a.order(), b.order())
}

func (g *ages) keep(actions []Offer) {
	g.kept, g.head, g.queue = true, 0, append(g.queue[:0], actions...)
	slices.SortFunc(g.queue, compareAges)
}

func (g *ages) forget() { g.kept, g.head, g.queue = false, 0, g.queue[:0] }

// place returns the index at which an action is, or belongs, in the queue.
func (g *ages) place(o Offer) int {
	// A new action is usually the youngest.
	if n := len(g.queue); n == g.head || compareAges(g.queue[n-1], o) < 0 {
		return n
	}
	return g.head + sort.Search(len(g.queue)-g.head, func(i int) bool { return compareAges(g.queue[g.head+i], o) >= 0 })
}

func (g *ages) add(o Offer) {
	if len(g.queue) == cap(g.queue) && g.head > 0 {
		g.queue, g.head = g.queue[:copy(g.queue, g.queue[g.head:])], 0
	}
	g.queue = slices.Insert(g.queue, g.place(o), o)
}

func (g *ages) remove(o Offer) {
	i := g.place(o)
	if i == g.head {
		g.head++
		return
	}
	g.queue = slices.Delete(g.queue, i, i+1)
}

// takeOldest removes and returns the oldest action of a ready set that is large, or was until now.
func (r *Ready) takeOldest() Choice {
	if !r.ages.kept {
		r.ages.keep(r.Actions)
	}
	c := r.ages.queue[r.ages.head].Choice
	r.removeAction(search(r.Actions, c.order()))
	if len(r.Actions) <= crowd/2 {
		r.ages.forget()
	}
	return c
}

// shrink removes the action at i from a large set by moving those before it or those after it, whichever are fewer.
func (r *Ready) shrink(i int) {
	if i > len(r.Actions)/2 {
		r.Actions = append(r.Actions[:i], r.Actions[i+1:]...)
		return
	}
	copy(r.Actions[1:i+1], r.Actions[:i])
	r.Actions = r.Actions[1:]
	r.front++
}

// makeRoom makes room for another action, first in the space that shrink left unused at the front.
func (r *Ready) makeRoom() {
	if r.front > len(r.Actions)/4 {
		r.Actions = r.all[:copy(r.all[:cap(r.all)], r.Actions)]
	} else {
		r.Actions = slices.Grow(r.Actions, len(r.Actions)+1)
		r.all = r.Actions[:0]
	}
	r.front = 0
}
