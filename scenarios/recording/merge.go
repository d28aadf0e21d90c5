package recording

import (
	"cmp"
	"math"
	"slices"
)

// merge sorts the changes of all kinds by revision, of which a cluster has one sequence for all kinds (S1), and assigns free
// revisions to guessed deletions.
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
				"%s %s has resourceVersion %d, which %s %s of document %d also has", c.kind.gvk.Kind, shorten(c.object.key), c.rv,
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

// placeGuesses assigns the lowest free revisions to a kind's guessed deletions. Each of them happened in a gap of the
// recording, as did the changes seen afterwards: the lowest free revision is at most the true one. If none is free before the
// object returns, a list was misread: the deletion is omitted (revision 0) and the object's return is an update.
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
