package fakeapiserver

import (
	"strconv"

	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// Page is the answer to a list, whole or one page of it.
type Page struct {
	Items []runtime.Object // shared with the Store: must not be changed
	Keys  []string         // "namespace/name" of each item
	Memos []*store.Memo    // of each item; nil if the Store has none
	// Revision is the list's resourceVersion, as a number and as clients see it.
	Revision        int64
	ResourceVersion string
	Continue        string // "" on the last page
	// RemainingItemCount is nil where the real server omits it (S8).
	RemainingItemCount *int64
}

// reserve preallocates room for n items.
func (p *Page) reserve(n int, memos bool) {
	p.Items, p.Keys = make([]runtime.Object, 0, n), make([]string, 0, n)
	if memos {
		p.Memos = make([]*store.Memo, 0, n)
	}
}

// buildPage lists the timeline at a revision by a plan.
func buildPage(t *store.Timeline, p listPlan, rev int64) *Page {
	page := &Page{Revision: rev, ResourceVersion: strconv.FormatInt(rev, 10)}
	if p.limit <= 0 && p.namespace == "" && !p.selects() {
		n := t.Len()
		page.reserve(n, t.KeepsMemos())
	}
	var seen, more int64
	t.Walk(rev, p.namespace, p.from, func(v *store.Version) bool {
		if p.limit > 0 && int64(len(page.Items)) >= p.limit {
			if more = 1; !p.selects() { // count the rest only where the client sees the count (S8)
				more = t.CountFrom(rev, p.namespace, v.Entry().Key())
			}
			return false
		}
		seen++
		if !p.selects() || p.matches(v.Object()) {
			page.Items = append(page.Items, v.Object())
			page.Keys = append(page.Keys, v.Entry().Key())
			if t.KeepsMemos() {
				page.Memos = append(page.Memos, v.Memo())
			}
		}
		return true
	})
	if more > 0 {
		last := page.Keys[len(page.Keys)-1]
		page.Continue = encodeContinue(rev, p.relativeKey(last)+"\x00")
		if !p.selects() {
			page.RemainingItemCount = &more
		}
	}
	return page
}
