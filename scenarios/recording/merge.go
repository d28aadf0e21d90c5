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
	// Each guessed deletion took a revision of the time nobody watched, and so did the changes that were seen afterwards: the
	// lowest free one is at most the true one.
	for _, c := range all {
		if !c.guessed {
			continue
		}
		c.rv = c.after
		for c.rv == c.after || taken[c.rv] != nil {
			if c.rv == math.MaxInt64 {
				return nil, unfit(c)
			}
			c.rv++
		}
		taken[c.rv] = c
	}
	slices.SortFunc(all, func(a, b *change) int { return cmp.Compare(a.rv, b.rv) })
	return all, checkExistence(all)
}

// checkExistence makes sure that what is updated or deleted exists and what is created does not: a guessed deletion may
// have found no free revision before its object came back.
func checkExistence(all []*change) error {
	type id struct {
		kind *history
		key  string
	}
	exists := map[id]bool{}
	for _, c := range all {
		at := id{c.kind, c.object.key}
		if exists[at] == (c.verb == "create") {
			return unfit(c)
		}
		exists[at] = c.verb != "delete"
	}
	return nil
}

func unfit(c *change) error {
	return wrong(c.object.place, c.object.document, "record it again without a gap",
		"%s %s was deleted and came back, and no revision below %d is free for its deletion", c.kind.gvk.Kind, shorten(c.object.key), c.rv)
}
