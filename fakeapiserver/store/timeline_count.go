package store

import (
	"sort"

	"github.com/tidwall/btree"
)

// CountFrom is how many keys existed at rev, of those in a namespace (all if it is empty) from one on. A page of a list says how
// many objects come after it; walking to the end for that would make listing a million objects in pages a matter of hours.
func (t *Timeline) CountFrom(rev int64, namespace, from string) int64 {
	n := countIn(t.order, namespace, from) - countIn(t.deleted, namespace, from)
	since := t.log.after(rev)
	if t.log.end()-since > int64(t.order.Len()) {
		n = 0
		t.Walk(rev, namespace, from, func(*Version) bool { n++; return true })
		return n
	}
	// What has happened since is undone.
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

// countIn is how many of some keys lie in a namespace (all if it is empty), from one on.
func countIn(keys *btree.BTreeG[*Entry], namespace, from string) int64 {
	last := keys.Len()
	if namespace != "" {
		from = max(from, namespace+"/")
		last = rank(keys, namespace+"0") // which follows namespace + "/…"
	}
	return int64(max(0, last-rank(keys, from)))
}

// index is how many keys come before one.
func rank(keys *btree.BTreeG[*Entry], key string) int {
	return sort.Search(keys.Len(), func(i int) bool {
		e, _ := keys.GetAt(i) // there is one at every index
		return e.key >= key
	})
}
