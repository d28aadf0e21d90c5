package library

import (
	"errors"
	"fmt"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
)

// keyOf is a key function that some objects have no key for.
func keyOf(obj any) (string, error) {
	if o, ok := obj.(*metav1.PartialObjectMetadata); ok && o.ResourceVersion == refuses {
		return "", errRefused
	}
	return informer.MetaNamespaceKey(obj)
}

// fixed is a queue that hands out what it is given.
type fixed struct {
	informer.Queue
	next []informer.Popped
	done int
}

func (q *fixed) Done() { q.done++ }

func (q *fixed) Pop(p *informer.Popped) bool {
	if len(q.next) == 0 {
		return false
	}
	*p, q.next = q.next[0], q.next[1:]
	return true
}

// controllers have a Controller process deltas of objects of which some have no key (I68): the rest of a key's deltas is lost with one, the rest of a batch is
// not.
func controllers(c *check) {
	q, m := &fixed{}, known{}
	x := informer.NewIndexer(informer.IndexerOptions{})
	var want, got []string
	k := &informer.Controller{
		Queue: q, Store: x, KeyFunc: keyOf, ObjectKeys: true,
		Distribute: func(n informer.Notification) {
			got = append(got, fmt.Sprintf("%v %s %s -> %s %t", n.Type, n.Key, text(n.Old), text(n.New), n.IsInInitialList))
			held, _, _ := x.GetByKey(n.Key) // it has no errors
			if n.Type != informer.NotifyDelete && !strings.HasSuffix(n.Key, "!") && held == nil {
				got = append(got, "and it is not in the store")
			}
		},
	}
	tells := func(d cache.Delta, initial bool) error {
		key, err := keyOf(d.Object)
		if err != nil {
			return err
		}
		old := m[key]
		switch {
		case d.Type == cache.Deleted:
			want = append(want, fmt.Sprintf("%v %s %s -> %s %t", informer.NotifyDelete, key, text(d.Object), text(nil), false))
			delete(m, key)
			return nil
		case old != nil:
			want = append(want, fmt.Sprintf("%v %s %s -> %s %t", informer.NotifyUpdate, key, text(old), text(d.Object), false))
		default:
			want = append(want, fmt.Sprintf("%v %s %s -> %s %t", informer.NotifyAdd, key, text(nil), text(d.Object), initial))
		}
		m[key] = d.Object
		return nil
	}
	for n := range 24 {
		p := informer.Popped{Key: "not used", IsInInitialList: c.oneIn(2)}
		want, got = nil, nil
		var failed error
		switch c.IntN(5) {
		case 0, 1: // the deltas of a key
			key := c.key()
			for range 1 + c.IntN(3) {
				p.Deltas = append(p.Deltas, c.delta(key))
			}
			for _, d := range p.Deltas {
				if failed = tells(d, p.IsInInitialList); failed != nil {
					break
				}
			}
		case 2: // a batch
			for _, key := range keys[:2+c.IntN(3)] {
				d := c.delta(key)
				p.Deltas, p.Keys = append(p.Deltas, d), append(p.Keys, key)
				failed = errors.Join(failed, tells(d, p.IsInInitialList))
			}
		case 3:
			failed = c.replacedAll(&p, m, &want, n)
		default:
			p.Deltas = cache.Deltas{{Type: cache.SyncAll, Object: cache.SyncAllInfo{}}}
			for _, key := range m.ListKeys() {
				want = append(want, fmt.Sprintf("%v %s %s -> %s %t", informer.NotifyUpdate, key, text(m[key]), text(m[key]), false))
			}
		}
		q.next = append(q.next, p)
		popped := k.Pop()
		q.next = append(q.next, informer.Popped{}) // which has to wait
		c.is("Pop, and again before that was processed", [2]bool{true, false}, [2]bool{popped, k.Pop()})
		q.next = nil
		err := k.ProcessPopped()
		c.is("of how many objects without a key Step tells", refusals(failed), refusals(err))
		c.is("what handlers are told", strings.Join(want, ", "), strings.Join(got, ", "))
		c.is("how often the queue was told that an entry is done", n+1, q.done)
		c.is("the store", fmt.Sprint(m.ListKeys()), fmt.Sprint(x.ListKeys()))
	}
	stepped, err := k.Step()
	c.is("Step of an empty queue", fmt.Sprint(false, nil), fmt.Sprint(stepped, err))
	c.unbatchable()
	c.listedTwice()
	c.storesAll()
	c.syncsKeyless()
}

// storesAll has handlers told of a batch once all of it is stored (I67).
func (c *check) storesAll() {
	x := informer.NewIndexer(informer.IndexerOptions{})
	c.is("Add", nil, x.Add(object("ns1/c", 1)))
	q := informer.NewRealFIFO(informer.RealFIFOOptions{KnownObjects: x, Batch: true})
	c.is("a batch that is queued", nil, errors.Join(q.Add(object("ns1/a", 2)), q.Add(object("ns1/b", 3)), q.Delete(object("ns1/c", 4))))
	stored, ab := []string{}, "[ns1/a ns1/b]"
	k := informer.Controller{Queue: q, Store: x, Distribute: func(informer.Notification) { stored = append(stored, fmt.Sprint(x.ListKeys())) }}
	_, err := k.Step()
	c.is("Step", nil, err)
	c.is("what is stored when handlers are told of each part of a batch", []string{ab, ab, ab}, stored)
}

// refusals counts the objects without a key that an error tells of.
func refusals(err error) int {
	all := 0
	switch e := err.(type) {
	case interface{ Unwrap() []error }:
		for _, one := range e.Unwrap() {
			all += refusals(one)
		}
	case interface{ Unwrap() error }:
		return refusals(e.Unwrap())
	default:
		if err == errRefused {
			return 1
		}
	}
	return all
}

func (c *check) delta(key string) cache.Delta {
	t := []cache.DeltaType{cache.Added, cache.Updated, cache.Replaced, cache.Sync, cache.Deleted}[c.IntN(5)]
	return cache.Delta{Type: t, Object: object(key, 10+c.IntN(5))}
}

// replacedAll makes an atomic list. One with an object that has no key changes nothing.
func (c *check) replacedAll(p *informer.Popped, m known, want *[]string, n int) (failed error) {
	var list []any
	listed := known{}
	for _, key := range keys {
		if c.oneIn(2) {
			obj := object(key, 10+c.IntN(5))
			list, listed[key] = append(list, obj), obj
			if _, err := keyOf(obj); err != nil {
				failed = err
			}
		}
	}
	p.Deltas = cache.Deltas{{Type: cache.ReplacedAll, Object: cache.ReplacedAllInfo{ResourceVersion: fmt.Sprint(n), Objects: list}}}
	if failed != nil {
		return failed
	}
	for _, key := range m.ListKeys() {
		if listed[key] == nil {
			old := cache.DeletedFinalStateUnknown{Key: key, Obj: m[key]}
			*want = append(*want, fmt.Sprintf("%v %s %s -> %s %t", informer.NotifyDelete, key, text(old), text(nil), false))
			delete(m, key)
		}
	}
	for _, key := range listed.ListKeys() {
		if old := m[key]; old != nil {
			*want = append(*want, fmt.Sprintf("%v %s %s -> %s %t", informer.NotifyUpdate, key, text(old), text(listed[key]), false))
		} else {
			*want = append(*want, fmt.Sprintf("%v %s %s -> %s %t", informer.NotifyAdd, key, text(nil), text(listed[key]), p.IsInInitialList))
		}
		m[key] = listed[key]
	}
	return nil
}

// detectors change some of the objects that a MutationDetector has seen, and look while it retains them: for two to four minutes.
func detectors(c *check) {
	consistency(c)
	d := &informer.MutationDetector{Name: "m"}
	now, rotated := start, time.Time{}
	recent, retained := 0, 0
	look := func(what string, later time.Duration, changed bool) {
		now = now.Add(later)
		if rotated.IsZero() {
			rotated = now
		} else if now.Sub(rotated) > 2*time.Minute {
			recent, retained, rotated = 0, recent, now
		}
		c.is("Check of "+what+" finds a change", changed, d.Check(now) != nil)
		c.is("NextCheck", now.Add(time.Second), d.NextCheck())
		c.is("Len", recent+retained, d.Len())
	}
	c.is("the first NextCheck", time.Time{}, d.NextCheck())
	if c.oneIn(2) {
		look("nothing", 0, false)
	}
	var objs []*metav1.PartialObjectMetadata
	for range 1 + c.IntN(4) {
		obj := object(c.key(), 1)
		objs, recent = append(objs, obj), recent+1
		d.AddObject(obj)
	}
	d.AddObject(cache.DeletedFinalStateUnknown{Key: "ns1/a"})
	c.is("Len", len(objs), d.Len())
	for range c.IntN(3) {
		look("what is unchanged", []time.Duration{time.Second, time.Minute, 59 * time.Second}[c.IntN(3)], false)
	}
	obj := objs[c.IntN(len(objs))]
	obj.Labels = map[string]string{"changed": "yes"}
	look("what was changed within two minutes", time.Second, true)
	obj.Labels = nil
	d.AddObject(object(c.key(), 2))
	recent++
	for range 3 {
		look("what was changed back", 3*time.Minute, false)
	}
	c.is("Len after two times two minutes", 0, d.Len())
}
