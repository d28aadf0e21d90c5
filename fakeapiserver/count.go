package fakeapiserver

import "sort"

// countFrom is how many keys existed at rev, of those in a namespace (all if it is empty) from one on. A page of a list says how
// many objects come after it; walking to the end for that would make listing a million objects in pages a matter of hours.
func (t *timeline) countFrom(rev int64, namespace, from string) int64 {
	first, last := t.index(from), t.entries.Len()
	if namespace != "" {
		last = t.index(namespace + "0") // which follows namespace + "/…"
	}
	if t.log.end()-t.log.base > int64(last-first) {
		n := int64(0)
		t.walk(rev, namespace, from, func(*version) bool { n++; return true })
		return n
	}
	// All keys that there are now, without those that only history keeps, and with what has happened since undone.
	n := int64(last - first)
	for pos := t.log.base; pos < t.log.end(); pos++ {
		v := t.log.at(pos)
		if v.entry.key < from || namespace != "" && !v.entry.in(namespace) {
			continue
		}
		if v.deleted && v.entry.newest == v {
			n--
		}
		switch since := v.rev > rev; {
		case since && v.deleted:
			n++
		case since && v.createRev == v.rev:
			n--
		}
	}
	return n
}

// index is how many keys come before one.
func (t *timeline) index(key string) int {
	return sort.Search(t.order.Len(), func(i int) bool {
		e, _ := t.order.GetAt(i) // there is one at every index
		return e.key >= key
	})
}
