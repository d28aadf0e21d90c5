package recording

import (
	"cmp"
	"math"
	"slices"
)

// merge puts the changes of all kinds into the order of their revisions, which one cluster counts for all kinds (S1), and
// gives the guessed deletions free ones.
func merge(kinds []*history) ([]*change, error) {
	var all []*change
	for _, h := range kinds {
		all = append(all, h.initial...)
		all = append(all, h.changes...)
	}
	taken := make(map[int64]*change, len(all))
	for _, c := range all {
		if c.guessed {
			continue
		}
		if other := taken[c.rv]; other != nil {
			return nil, wrong(c.object.place, c.object.document, "import recordings of one cluster only",
				"%s %s has resourceVersion %d, which %s %s of document %d has too", c.kind.gvk.Kind, shorten(c.object.key), c.rv,
				other.kind.gvk.Kind, shorten(other.object.key), other.object.document)
		}
		taken[c.rv] = c
	}
	for _, h := range kinds {
		placeGuesses(h, taken)
	}
	all = slices.DeleteFunc(all, func(c *change) bool { return c.rv == 0 })
	slices.SortFunc(all, func(a, b *change) int { return cmp.Compare(a.rv, b.rv) })
	return all, nil
}

// placeGuesses gives a kind's guessed deletions the lowest free revisions. Each of them took a revision of the time nobody watched,
// and so did the changes that were seen afterwards: the lowest free one is at most the true one. If none is free before the
// object came back, a list was misread: the deletion is left out (revision 0) and the object that came back is an update.
func placeGuesses(h *history, taken map[int64]*change) {
	cameBack := map[*change]*change{}
	next := map[string]*change{}
	for _, c := range slices.Backward(h.changes) {
		cameBack[c] = next[c.object.key]
		next[c.object.key] = c
	}
	for _, c := range h.changes {
		if !c.guessed {
			continue
		}
		rv := c.after
		for rv == c.after || taken[rv] != nil {
			if rv == math.MaxInt64 {
				break
			}
			rv++
		}
		back := cameBack[c]
		switch {
		case back != nil && rv >= back.rv:
			back.verb = "update"
		case taken[rv] == nil:
			c.rv = rv
			taken[rv] = c
		}
	}
}
