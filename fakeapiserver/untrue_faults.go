package fakeapiserver

import (
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/informersim/informersim/fakeapiserver/store"
)

// Faults of a server that says what is not so. Each has been a bug of the real one.

// deliverOldDelete delivers a deletion with the resourceVersion that the object had before, as the real server did (k58545): a client
// that goes on from there sees events again.
func (s *stream) deliverOldDelete(f *frame) {
	if v := s.versionAt(f.event.Key, f.event.Rev-1); v != nil {
		f.event.Object, f.event.Memo, f.event.Rev = v.Object(), nil, v.Revision()
	}
	s.deliverFrame(f)
}

// versionAt returns the object under a key as it was at a revision; nil if there was none.
func (s *stream) versionAt(key string, rev int64) (found *store.Version) {
	s.call.client.cluster.store.Timeline(s.call.res).Walk(rev, "", key, func(v *store.Version) bool {
		if v.Entry().Key() == key {
			found = v
		}
		return false
	})
	return found
}

// tear makes the second half of the list's page show the Store's state of now, as if a write had come between two reads that the list is
// made of (k94002). The list's resourceVersion stays. A list that is no older than the Store does not change.
func (c *call) tear() {
	page, s := c.page, c.client.cluster.store
	if page == nil {
		return
	}
	torn := &Page{Revision: page.Revision, ResourceVersion: page.ResourceVersion, Continue: page.Continue, RemainingItemCount: page.RemainingItemCount}
	now := map[string]runtime.Object{}
	s.Timeline(c.res).Walk(s.Revision(), c.namespace, "", func(v *store.Version) bool {
		now[v.Entry().Key()] = v.Object()
		return true
	})
	for n, key := range page.Keys {
		obj := page.Items[n]
		if n >= len(page.Keys)/2 {
			if obj = now[key]; obj == nil {
				continue // deleted since
			}
		}
		torn.Keys, torn.Items = append(torn.Keys, key), append(torn.Items, obj)
		if page.Memos == nil {
			continue
		}
		var memo *store.Memo
		if obj == page.Items[n] {
			memo = page.Memos[n]
		}
		torn.Memos = append(torn.Memos, memo)
	}
	c.page = torn
}
