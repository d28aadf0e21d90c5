package library

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/features"
	"k8s.io/client-go/tools/cache"
)

// doubtful is a store that names two keys that it cannot give: it fails for one, and lacks the other.
type doubtful struct{ cache.Store }

// ListKeys implements cache.KeyLister.
func (s doubtful) ListKeys() []string {
	return append([]string{"fails", "lacks"}, s.Store.ListKeys()...)
}

// GetByKey implements cache.KeyGetter.
func (s doubtful) GetByKey(key string) (any, bool, error) {
	if key == "fails" {
		return nil, false, errors.New("it cannot be read")
	}
	return s.Store.GetByKey(key)
}

// doubts has a queue look at a store that cannot give all that it names. A resync leaves that out; a list that does not have it tells its end, without an object.
func (c *check) doubts() {
	known := doubtful{cache.NewStore(cache.MetaNamespaceKeyFunc)}
	for _, key := range keys[:2] {
		c.no("Add", known.Add(object(key, 1)))
	}
	name, q := "a DeltaFIFO", cache.Queue(cache.NewDeltaFIFOWithOptions(cache.DeltaFIFOOptions{KnownObjects: known, EmitDeltaTypeReplaced: true}))
	if c.IntN(2) == 0 {
		name, q = "a RealFIFO", cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{KnownObjects: known})
	}
	want := []string{"Sync ns1/a@1", "Sync ns1/b@1"}
	switch c.IntN(3) {
	case 0:
		c.no("Resync of "+name, quietly(q.Resync))
	case 1: // it may be there
		c.no("Delete of "+name, q.Delete(cache.DeletedFinalStateUnknown{Key: "fails", Obj: object("c", 1)}))
		want = []string{"end of fails with *v1.PartialObjectMetadata"}
	default:
		c.no("Replace of "+name, quietly(func() error { return q.Replace([]any{object("ns1/a", 2)}, "2") }))
		want = []string{"end of fails with <nil>", "end of lacks with <nil>", "end of ns1/b with *v1.PartialObjectMetadata", "Replaced ns1/a@2"}
	}
	q.Close()
	got := []string{}
	for {
		popped, err := q.Pop(func(any, bool) error { return nil })
		if err != nil {
			break
		}
		of := delta(popped)
		if d, ok := popped.(cache.Deltas); ok && len(d) == 1 {
			if end, ok := d[0].Object.(cache.DeletedFinalStateUnknown); ok {
				of = fmt.Sprintf("end of %s with %T", end.Key, end.Obj)
			}
		}
		got = append(got, of)
	}
	c.is("what comes of "+name+" whose store cannot give all that it names", fmt.Sprintf("%q", sorted(want)), fmt.Sprintf("%q", sorted(got)))
}

// misconfigured are queues that nobody can make, since what they were told cannot be.
func (c *check) misconfigured() {
	known := cache.NewStore(cache.MetaNamespaceKeyFunc)
	for what, o := range byName(map[string]cache.RealFIFOOptions{
		"atomic events and a store": {AtomicEvents: true, KnownObjects: known}, "no atomic events, and no store": {}, "no atomic events, and no lock": {KnownObjects: known, UnlockWhileProcessing: true},
		"no atomic events, but bookmarks": {KnownObjects: known, EmitDeltaTypeBookmark: true},
	}) {
		c.is("whether a RealFIFO can be made with "+what, true, panics(func() { cache.NewRealFIFOWithOptions(o) }))
	}
}

// strangers are what a store holds that has no metadata, and no revision: it follows none of it, nor of what is deleted by its key alone. An index function may fail for somebody who asks.
func (c *check) strangers() {
	s := cache.NewThreadSafeStore(cache.Indexers{"all": func(obj any) ([]string, error) {
		if obj == nil {
			return nil, errors.New("it cannot tell")
		}
		return []string{"x"}, nil
	}}, cache.Indices{}).(cache.ThreadSafeStoreWithTransaction)
	s.Add("ns1/a", object("ns1/a", 7))
	want := "7"
	if !features.FeatureGates().Enabled(features.AtomicFIFO) {
		want = ""
	}
	for call, f := range byName(map[string]func(){ // none of them changes it
		"Add of what has no revision": func() { s.Add("s", "stranger") }, "Update of what has no revision": func() { s.Update("s", "stranger") }, "Delete by a key": func() { s.Delete("s") },
		"Delete of what has no revision": func() { s.DeleteWithObject("s", "stranger") },
		"a transaction of what has no revision": func() {
			s.Transaction(cache.ThreadSafeStoreTransaction{Transaction: cache.Transaction{Type: cache.TransactionTypeAdd, Object: "stranger"}, Key: "s"})
		},
		"a transaction of nothing": func() { s.Transaction() },
	}) {
		f()
		c.is("LastStoreSyncResourceVersion after "+call, want, s.LastStoreSyncResourceVersion())
	}
	s.Transaction(
		cache.ThreadSafeStoreTransaction{Transaction: cache.Transaction{Type: cache.TransactionTypeUpdate, Object: object("ns1/a", 8)}, Key: "ns1/a"},
		cache.ThreadSafeStoreTransaction{Transaction: cache.Transaction{Type: cache.TransactionTypeDelete, Object: cache.DeletedFinalStateUnknown{Key: "s"}}, Key: "s"},
	)
	at := s.LastStoreSyncResourceVersion()
	c.is("whether a store knows what it has followed after a transaction whose last object has no revision", true, at == want || want != "" && at == "8") // upstream has the one before
	first := map[string]any{"ns1/a": object("ns1/a", 7)}
	s.Replace(first, "8")
	s.Replace(map[string]any{}, "9")
	c.is("how much is left of what a store was given before", 1, len(first))
	_, err := s.Index("all", nil)
	c.refused("Index by what the index function fails for", err)
	_, err = s.Index("absent", object("ns1/a", 7))
	c.refused("Index of an index that there is not", err)
	c.is("the message of a KeyError", "couldn't create key for object 1: no key", cache.KeyError{Obj: 1, Err: errors.New("no key")}.Error())
	failed := &cache.TransactionError{SuccessfulIndices: []int{0, 2}, TotalTransactions: 5, Errors: []error{errors.New("no key")}}
	c.is("the message of a TransactionError", "failed to execute (3/5) transactions failed due to: [no key]", failed.Error())
	name := cache.MetaObjectToName(&metav1.ObjectMeta{Name: "c"})
	c.is("MetaObjectToName of what is in no namespace", cache.ObjectName{Name: "c"}, name)
}
