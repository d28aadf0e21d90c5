package library

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
)

// concerning describes a delta, which may concern many objects.
func concerning(d cache.Delta) string {
	switch o := d.Object.(type) {
	case cache.ReplacedAllInfo:
		return fmt.Sprintf("%s %s %v", d.Type, o.ResourceVersion, texts(o.Objects))
	case cache.BookmarkInfo:
		return fmt.Sprintf("%s %s", d.Type, o.ResourceVersion)
	case *metav1.PartialObjectMetadata:
		return fmt.Sprintf("%s %s", d.Type, text(o))
	default:
		return fmt.Sprintf("%s %T", d.Type, o)
	}
}

// atomicQueue holds a RealFIFO against a model whose lists and resyncs are one delta each, and which may unlock (I57, I60).
func (c *check) atomicQueue() {
	o := informer.RealFIFOOptions{Atomic: true, EmitBookmarks: c.oneIn(2), Batch: c.oneIn(2), UnlockWhileProcessing: c.oneIn(2), Transformer: made}
	q := informer.NewRealFIFO(o)
	var want []string
	populated, synced, left := false, false, 0
	for n := range 24 {
		obj := object(c.key(), 10+c.IntN(6))
		unmade := obj.ResourceVersion == refuses
		switch c.IntN(6) {
		case 0, 1:
			synced, populated = synced || !populated, true
			c.is("Update fails", unmade, q.Update(obj) != nil)
			if !unmade {
				want = append(want, "Updated "+text(obj)+"!")
			}
		case 2:
			list := []any{object(c.key(), 20+n), obj}
			given := fmt.Sprint(texts(list))
			c.is("Replace fails", unmade, q.Replace(list, fmt.Sprint(n)) != nil)
			c.is("the list that Replace was given", given, fmt.Sprint(texts(list)))
			if unmade {
				break
			}
			want = append(want, fmt.Sprintf("ReplacedAll %d [%s! %s!]", n, text(list[0]), text(list[1])))
			if !populated {
				populated, left = true, len(want)
			}
		case 3:
			c.is("Resync", nil, q.Resync())
			want = append(want, "SyncAll cache.SyncAllInfo")
		case 4:
			c.is("Bookmark", nil, q.Bookmark(fmt.Sprint(n)))
			if o.EmitBookmarks {
				want = append(want, fmt.Sprint("Bookmark ", n))
			}
		default:
			var p informer.Popped
			c.is("Pop: there is something", len(want) > 0, q.Pop(&p))
			if len(want) == 0 || len(p.Deltas) == 0 || len(p.Deltas) > len(want) {
				break
			}
			got := []string{}
			for _, d := range p.Deltas {
				got = append(got, concerning(d))
			}
			c.is("Pop", fmt.Sprint(want[:len(got)]), fmt.Sprint(got))
			c.is("Pop: it is of the initial list", !synced, p.IsInInitialList)
			c.is("Locked while it processes", !o.UnlockWhileProcessing, q.Locked())
			c.is("HasSynced while it processes", synced, q.HasSynced())
			q.Done()
			want = want[len(got):]
			if left > 0 {
				left -= len(got)
				synced = left == 0
			}
		}
		c.is("Len", len(want), q.Len())
		c.is("HasSynced", synced, q.HasSynced())
	}
	c.renamed()
	if c.oneIn(8) {
		c.long()
	}
}

// renamed has a transform change the names of objects: a RealFIFO queues them under their new keys.
func (c *check) renamed() {
	q := informer.NewRealFIFO(informer.RealFIFOOptions{KnownObjects: known{}, Batch: true, Transformer: func(obj any) (any, error) {
		o := obj.(*metav1.PartialObjectMetadata).DeepCopy()
		o.Name = "b"
		return o, nil
	}})
	c.is("Add of what gets another name", nil, q.Add(object("ns1/a", 1)))
	c.is("Add of what has that name", nil, q.Add(object("ns1/b", 2)))
	var p informer.Popped
	for n := range 2 { // both have one key, so that they are no batch
		c.is("Pop: there is something", true, q.Pop(&p))
		c.is("the key of what is popped, and how much that is", "ns1/b 1", fmt.Sprint(p.Key, " ", len(p.Deltas)))
		c.is("what is popped", fmt.Sprintf("ns1/b@%d", n+1), text(p.Deltas[0].Object))
		q.Done()
	}
}

// long has a queue that may unlock while it processes an entry, and holds more than two batches: writers wait then (I60).
func (c *check) long() {
	const batch = 1000
	q := informer.NewRealFIFO(informer.RealFIFOOptions{Atomic: true, UnlockWhileProcessing: true})
	obj := object("ns1/a", 1)
	for range 2*batch + 1 {
		c.is("Update", nil, q.Update(obj))
	}
	var p informer.Popped
	for _, want := range []bool{true, false} {
		c.is("Pop: there is something", true, q.Pop(&p))
		c.is(fmt.Sprintf("Locked while it processes, with %d left", q.Len()), want, q.Locked())
		q.Done()
	}
	for q.Pop(&p) {
		q.Done()
	}
	c.is("HasSynced of a queue that was long", true, q.HasSynced())
}
