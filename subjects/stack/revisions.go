package stack

import "strconv"

// revisions turns resourceVersions into numbers. It remembers the last two: the same pair, new and old, is asked for by
// the record of the store and by those of every handler.
type revisions struct {
	last [2]revision
	next uint8
}

type revision struct {
	text   string
	number int64
}

// of is an object's resourceVersion as a number, 0 if it has none.
func (r *revisions) of(obj any) int64 {
	m, ok := obj.(interface{ GetResourceVersion() string })
	if !ok {
		return 0
	}
	text := m.GetResourceVersion()
	for i := range r.last {
		if r.last[i].text == text {
			return r.last[i].number
		}
	}
	n := parseRevision(text)
	r.last[r.next] = revision{text, n}
	r.next ^= 1
	return n
}

// parseRevision is strconv.ParseInt for what servers send, 0 for anything else.
func parseRevision(rv string) int64 {
	if len(rv) > 18 {
		n, err := strconv.ParseInt(rv, 10, 64)
		if err != nil {
			return 0
		}
		return n
	}
	n := int64(0)
	for i := range len(rv) {
		d := rv[i] - '0'
		if d > 9 {
			return 0
		}
		n = n*10 + int64(d)
	}
	return n
}
