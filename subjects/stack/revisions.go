package stack

import (
	"strconv"
	"unsafe"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// revisions turns resourceVersions into numbers. It remembers the last two: the same pair, new and old, is asked for by
// the record of the store and by those of every handler. It goes by where a text is: one that is elsewhere is read again.
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
	m, ok := obj.(metav1.Object)
	if !ok {
		return 0
	}
	text := m.GetResourceVersion()
	switch {
	case same(text, r.last[0].text):
		return r.last[0].number
	case same(text, r.last[1].text):
		return r.last[1].number
	}
	n := parseRevision(text)
	r.know(text, n)
	return n
}

// know remembers that this text is that number.
func (r *revisions) know(text string, n int64) {
	r.last[r.next] = revision{text, n}
	r.next ^= 1
}

func same(a, b string) bool {
	return len(a) == len(b) && unsafe.StringData(a) == unsafe.StringData(b)
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
