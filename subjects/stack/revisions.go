package stack

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/informersim/informersim/subjects"
)

// revisions parses resourceVersions. It caches the last two: the records of the store and of every handler need the same pair, new
// and old. Comparing a string with itself does not read its bytes.
type revisions struct {
	last [2]revision
	next uint8
}

type revision struct {
	text   string
	number int64
}

// of returns an object's resourceVersion as a number, 0 if it has none.
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

// know caches the number of a text.
func (r *revisions) know(text string, n int64) {
	r.last[r.next] = revision{text, n}
	r.next ^= 1
}
