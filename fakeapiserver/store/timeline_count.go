package store

import (
	"sort"

	"github.com/tidwall/btree"
)

// CountFrom returns how many keys ≥ from existed at rev, in a namespace if it is not empty. Each page of a list says how many
// objects come after it; walking to the end each time would make paging through a million objects take hours.
func (t *Timeline) CountFrom(rev int64, namespace, from string) int64 {
	n := countIn(t.order, namespace, from) - countIn(t.deleted, namespace, from)
	since := t.log.after(rev)
	if t.log.end()-since > int64(t.order.Len()) {
		n = 0
		t.Walk(rev, namespace, from, func(*Version) bool { n++; return true })
		return n
	}
	// Undo the changes since rev.
	for pos := since; pos < t.log.end(); pos++ {
		v := t.log.at(pos)
		switch {
		case v.entry.key < from || namespace != "" && !v.entry.In(namespace):
		case v.deleted:
			n++
		case v.createRev == v.rev:
			n--
		}
	}
	return n
}

// countIn returns how many of the keys are ≥ from, in a namespace if it is not empty.
func countIn(keys *btree.BTreeG[*Entry], namespace, from string) int64 {
	last := keys.Len()
	if namespace != "" {
		from = max(from, namespace+"/")
		last = rank(keys, namespace+"0") // which follows namespace + "/…"
	}
	return int64(max(0, last-rank(keys, from)))
}

// rank returns how many keys sort before key.
func rank(keys *btree.BTreeG[*Entry], key string) int {
	return sort.Search(keys.Len(), func(i int) bool {
		e, _ := keys.GetAt(i) // i is in range
		return e.key >= key
	})
}
