package stack

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/subjects"
)

// revisions turns resourceVersions into numbers. It remembers the last two: the same pair, new and old, is asked for by
// the record of the store and by those of every handler. Comparing a string with itself costs no look at its bytes.
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
	switch text {
	case r.last[0].text:
		return r.last[0].number
	case r.last[1].text:
		return r.last[1].number
	}
	n := subjects.ParseRevision(text)
	r.know(text, n)
	return n
}

// know remembers that this text is that number.
func (r *revisions) know(text string, n int64) {
	r.last[r.next] = revision{text, n}
	r.next ^= 1
}
