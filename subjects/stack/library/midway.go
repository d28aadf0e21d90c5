package library

import (
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
)

// failsMidway has a list fail at its second object. What comes before that is queued, and the list that follows is the first one all the same (I49).
func (c *check) failsMidway() {
	q := informer.NewDeltaFIFO(informer.DeltaFIFOOptions{KnownObjects: known{}, Transformer: made})
	odd := object("ns1/b", 1)
	odd.ResourceVersion = refuses
	c.is("Replace with an object that cannot be transformed fails", true, q.Replace([]any{object("ns1/a", 1), odd, object("ns2/a", 1)}, "1") != nil)
	c.is("Len after a list that failed at its second object", 1, q.Len())
	c.is("Replace", nil, q.Replace([]any{object("ns1/a", 2), object("ns1/b", 2)}, "2"))
	var p informer.Popped
	for n := range 2 {
		c.is(fmt.Sprintf("HasSynced after %d of 2 objects of a list, one before having failed", n), false, q.HasSynced())
		c.is("Pop: there is something", true, q.Pop(&p))
		q.Done()
	}
	c.is("HasSynced after all objects", true, q.HasSynced())
}

// longQueue has more keys be queued than a DeltaFIFO looks through one by one, and takes most of them. The others still have one entry each.
func (c *check) longQueue() {
	q := informer.NewDeltaFIFO(informer.DeltaFIFOOptions{KnownObjects: known{}})
	name := func(n int) string { return fmt.Sprintf("ns1/%02d", n) }
	many := 9 + c.IntN(12)
	for n := range many {
		c.is("Add", nil, q.Add(object(name(n), 1)))
	}
	var p informer.Popped
	for n := range many {
		c.is("Update", nil, q.Update(object(name(many-1), n+2)))
		c.is("Len of a queue of which most was taken", many-n, q.Len())
		c.is("Pop: there is something", true, q.Pop(&p))
		c.is("the key of an entry of a long queue", name(n), p.Key)
		q.Done()
	}
	c.is("how many deltas the last key of a long queue has", many+1, len(p.Deltas))
}

// unwanted has a resync come late that no handler wants. The next one is a period later.
func (c *check) unwanted() {
	r := informer.NewReflector(informer.ReflectorOptions{Queue: &refusing{}, ResyncPeriod: resyncPeriod, ShouldResync: func(time.Time) bool { return false }})
	r.Start(start)
	r.OnPage(nil, "10", "", nil)
	r.OnWatchOpened()
	now := start.Add(resyncPeriod + 3*time.Second)
	r.OnTime(now)
	at, _ := r.NextResync()
	c.is("the next resync after one that came late, and that nobody wanted", now.Add(resyncPeriod), at)
}

// secondAttempt has a list from the beginning expire, and the one of no revision that follows come in pages. That counts as the first (I6).
func (c *check) secondAttempt() {
	r := informer.NewReflector(informer.ReflectorOptions{Queue: &refusing{}})
	r.Start(start)
	r.OnListError(apierrors.NewResourceExpired("too old"))
	r.OnPage([]runtime.Object{object("ns1/a", 1)}, "10", "more", nil)
	r.OnPage([]runtime.Object{object("ns1/b", 1)}, "10", "", nil)
	c.expires(r)
	o := r.Want().Options
	c.is("the list after one in pages that was the second attempt", fmt.Sprint("10 ", informer.DefaultPageSize), fmt.Sprint(o.ResourceVersion, " ", o.Limit))
}

// expiresNewest has a list of no revision expire, which is asked for since the one before had expired twice: it is asked for once more.
func (c *check) expiresNewest() {
	r := informer.NewReflector(informer.ReflectorOptions{Queue: &refusing{}})
	r.Start(start)
	expired := apierrors.NewResourceExpired("too old")
	for round := range 2 {
		r.OnListError(expired)
		c.is(fmt.Sprintf("what follows a list that expired, in round %d", round), fmt.Sprint(informer.OpList, ""), fmt.Sprint(r.Want().Op, r.Want().Options.ResourceVersion))
		r.OnListError(expired)
		c.is(fmt.Sprintf("what follows two lists that expired, in round %d", round), informer.OpSleep, r.Want().Op)
		r.OnTime(r.Want().Until)
	}
}

// inPages has a list come in pages of which each says how many objects are left, which may be none.
func (c *check) inPages() {
	q := &refusing{}
	r := informer.NewReflector(informer.ReflectorOptions{Queue: q})
	r.Start(start)
	for n, left := range []int64{2, 0} {
		r.OnPage([]runtime.Object{object(keys[n], 1)}, "10", "more", &left)
	}
	r.OnPage([]runtime.Object{object(keys[2], 1)}, "10", "", nil)
	c.is("what a list in three pages has", "[ns1/a@1 ns1/b@1 ns2/a@1]", fmt.Sprint(q.listed))
}

// sameRevision compares a streaming list with a list that has the same objects at the same revisions, of which one is not alike (I24).
func (c *check) sameRevision() {
	obj := object("ns1/a", 1)
	other := obj.DeepCopy()
	other.Labels = map[string]string{"changed": "yes"}
	c.is("CheckConsistency of an object that differs at the same revision fails", true, informer.CheckConsistency([]runtime.Object{obj}, []any{other}, nil) != nil)
}

// syncsKeyless has a Controller resync a store of which an object has no key any more: it says so, and tells of those before.
func (c *check) syncsKeyless() {
	x := informer.NewIndexer(informer.IndexerOptions{})
	odd := object("ns1/b", 1)
	odd.ResourceVersion = refuses
	for _, obj := range []*metav1.PartialObjectMetadata{object("ns1/a", 1), odd, object("ns2/a", 1)} {
		c.is("Add", nil, x.Add(obj))
	}
	told := []string{}
	k := &informer.Controller{Store: x, KeyFunc: keyOf, Distribute: func(n informer.Notification) { told = append(told, n.Key) }}
	err := k.HandleDeltas(&informer.Popped{Deltas: cache.Deltas{{Type: cache.SyncAll, Object: cache.SyncAllInfo{}}}})
	c.is("of how many objects without a key a resync tells", 1, refusals(err))
	c.is("what a resync tells of that comes upon an object without a key", []string{"ns1/a"}, told)
}
