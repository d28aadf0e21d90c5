package library

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/tools/cache"
)

// queued is a delta that a queue should hold.
type queued struct {
	t   cache.DeltaType
	key string // "" of what concerns many
	obj any
}

func (d queued) String() string {
	switch o := d.obj.(type) {
	case cache.DeletedFinalStateUnknown:
		return fmt.Sprintf("%s tombstone of %s, %s", d.t, o.Key, madeText(o.Obj))
	case cache.ReplacedAllInfo:
		all := []string{}
		for _, obj := range o.Objects {
			all = append(all, madeText(obj))
		}
		return fmt.Sprintf("%s %s %v", d.t, o.ResourceVersion, all)
	case cache.BookmarkInfo:
		return fmt.Sprintf("%s %s", d.t, o.ResourceVersion)
	default:
		return fmt.Sprintf("%s %s", d.t, madeText(o))
	}
}

// unmade is the revision of objects that cannot be transformed.
const unmade = "13"

// made transforms an object, which then says how often that was done. It is given nothing else.
func made(obj any) (any, error) {
	o, ok := obj.(*metav1.PartialObjectMetadata)
	if !ok || o.ResourceVersion == unmade {
		return obj, errors.New("it cannot be transformed")
	}
	o = o.DeepCopy()
	o.Labels = map[string]string{"made": o.Labels["made"] + "!"}
	return o, nil
}

func madeText(obj any) string {
	if o, ok := obj.(*metav1.PartialObjectMetadata); ok && o != nil {
		return text(o) + o.Labels["made"]
	}
	return fmt.Sprintf("%T", obj)
}

// stored is the store that a queue knows, and whoever pops it writes. It lists its keys in their order.
type stored map[string]any

// ListKeys implements cache.KeyLister.
func (s stored) ListKeys() (all []string) {
	for _, key := range keys {
		if s[key] != nil {
			all = append(all, key)
		}
	}
	return all
}

// GetByKey implements cache.KeyGetter.
func (s stored) GetByKey(key string) (any, bool, error) { return s[key], s[key] != nil, nil }

// queueModel is what a queue should hold: entries of a delta each, or with byKey one for each key, in the order of their first deltas.
type queueModel struct {
	byKey, atomic, marks bool
	repeats              bool            // a batch may have a key twice
	listed               cache.DeltaType // what a list's objects come as
	entries              [][]queued
	store                stored
	populated, synced    bool
	left                 int // of the first list
}

// changes notes that something came before the first list, or after it.
func (m *queueModel) changes() {
	m.synced = m.synced || !m.populated
	m.populated = true
}

// newest is the entry with the last delta of a key.
func (m *queueModel) newest(key string) *[]queued {
	for n := len(m.entries) - 1; n >= 0; n-- {
		if m.entries[n][0].key == key {
			return &m.entries[n]
		}
	}
	return nil
}

// push queues a delta. Of two deletions of a key in a row the first counts, unless it is a tombstone (I45).
func (m *queueModel) push(d queued) {
	e := m.newest(d.key)
	if !m.byKey || e == nil {
		m.entries = append(m.entries, []queued{d})
		return
	}
	last := &(*e)[len(*e)-1]
	if d.t != cache.Deleted || last.t != cache.Deleted {
		*e = append(*e, d)
	} else if _, tombstone := last.obj.(cache.DeletedFinalStateUnknown); tombstone {
		*last = d
	}
}

// change is an event. It reports whether that fails.
func (m *queueModel) change(t cache.DeltaType, key string, obj any) bool {
	m.changes()
	if m.byKey && t == cache.Deleted && m.newest(key) == nil && m.store[key] == nil {
		return false
	}
	if _, tombstone := obj.(cache.DeletedFinalStateUnknown); !tombstone {
		var err error
		if obj, err = made(obj); err != nil {
			return true
		}
	}
	m.push(queued{t, key, obj})
	return false
}

// ends queues the ends of what a list lacks (I47, I48, I54).
func (m *queueModel) ends(listed map[string]bool) {
	var all []string
	for _, e := range m.entries {
		if key := e[0].key; !listed[key] && !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	inQueue := len(all)
	for _, key := range m.store.ListKeys() {
		if !listed[key] && !slices.Contains(all, key) {
			all = append(all, key)
		}
	}
	for n, key := range all {
		obj := m.store[key]
		if n < inQueue {
			e := *m.newest(key)
			if e[len(e)-1].t == cache.Deleted && !m.byKey {
				continue
			}
			obj = e[len(e)-1].obj
			if end, ok := obj.(cache.DeletedFinalStateUnknown); ok {
				obj = end.Obj
			}
		}
		m.push(queued{cache.Deleted, key, cache.DeletedFinalStateUnknown{Key: key, Obj: obj}})
	}
}

// replace is a list. It reports whether that fails, which leaves what was queued before it has (I49, I55, I57).
func (m *queueModel) replace(list []any, at string) (fails bool) {
	var all []queued
	listed := map[string]bool{}
	for _, obj := range list {
		key, _ := cache.MetaNamespaceKeyFunc(obj) // it has one
		listed[key] = true
		made, err := made(obj)
		if fails = fails || err != nil; !fails {
			all = append(all, queued{m.listed, key, made})
		}
	}
	switch {
	case m.atomic && fails:
	case m.atomic:
		info := cache.ReplacedAllInfo{ResourceVersion: at}
		for _, d := range all {
			info.Objects = append(info.Objects, d.obj)
		}
		m.push(queued{cache.ReplacedAll, "", info})
	case m.byKey:
		for _, d := range all {
			m.push(d)
		}
		if !fails {
			m.ends(listed)
		}
	default:
		m.ends(listed)
		for _, d := range all {
			m.push(d)
		}
	}
	if !fails && !m.populated {
		m.populated, m.left = true, len(m.entries)
		m.synced = m.left == 0
	}
	return fails
}

// resync tells of what the store has, and the queue has not.
func (m *queueModel) resync() {
	if m.atomic {
		m.push(queued{cache.SyncAll, "", cache.SyncAllInfo{}})
		return
	}
	for _, key := range m.store.ListKeys() {
		if m.newest(key) == nil {
			m.push(queued{cache.Sync, key, m.store[key]})
		}
	}
}

// batch is how many entries come at once: up to the end of the first list, or one that concerns many, which comes alone, and before v0.38 up to a key that has come
// already (I61).
func (m *queueModel) batch() (n int) {
	seen := map[string]bool{}
	for _, e := range m.entries {
		key := e[0].key
		if n > 0 && (key == "" || seen[key] && !m.repeats || n == m.left) {
			break
		}
		seen[key] = true
		if n++; key == "" {
			break
		}
	}
	return n
}

// take takes entries, and has the store follow.
func (m *queueModel) take(n int) (all []string) {
	for _, e := range m.entries[:n] {
		for _, d := range e {
			all = append(all, d.String())
			if m.store == nil {
				continue
			}
			if m.store[d.key] = d.obj; d.t == cache.Deleted {
				delete(m.store, d.key)
			}
		}
	}
	m.entries = m.entries[n:]
	return all
}

// taken counts what was taken.
func (m *queueModel) taken(n int) {
	if m.left > 0 {
		m.left -= n
		m.synced = m.synced || m.left == 0
	}
}

// modelled makes one of the queues of informers, and its model. Its store may have something before the first list. Only a DeltaFIFO can do without.
func (c *check) modelled() (name string, q cache.Queue, m *queueModel) {
	m = &queueModel{listed: cache.Replaced, store: stored{}, repeats: c.minor >= 38}
	for _, key := range keys {
		if c.IntN(4) == 0 {
			m.store[key] = object(key, 1)
		}
	}
	switch c.IntN(4) {
	case 0, 1:
		m.byKey = true
		o := cache.DeltaFIFOOptions{Transformer: made, EmitDeltaTypeReplaced: c.IntN(3) > 0, KnownObjects: m.store}
		if !o.EmitDeltaTypeReplaced {
			m.listed = cache.Sync
		}
		if c.IntN(4) == 0 {
			m.store, o.KnownObjects = nil, nil
		}
		return "a DeltaFIFO", cache.NewDeltaFIFOWithOptions(o), m
	case 2:
		return "a RealFIFO", cache.NewRealFIFOWithOptions(cache.RealFIFOOptions{Transformer: made, KnownObjects: m.store}), m
	}
	m.store, m.atomic, m.marks = nil, true, c.IntN(2) == 0
	o := cache.RealFIFOOptions{Transformer: made, AtomicEvents: true, EmitDeltaTypeBookmark: m.marks, UnlockWhileProcessing: c.IntN(2) == 0}
	return "an atomic RealFIFO", cache.NewRealFIFOWithOptions(o), m
}

// deltaQueues hold a queue of informers against its model. In one of three cases nothing that counts comes before the queue has told of something.
func (c *check) deltaQueues() {
	name, q, m := c.modelled()
	early := c.IntN(3) == 0
	fails := func(call string, want bool, err error) {
		c.is(fmt.Sprintf("whether %s of %s fails", call, name), want, err != nil)
	}
	for n := range 24 {
		key := c.key()
		obj := any(object(key, 10+c.IntN(6)))
		call := c.IntN(9)
		if early && n < 3 {
			call = 5 + c.IntN(3)
		}
		switch call {
		case 0:
			fails("Add", m.change(cache.Added, key, obj), q.Add(obj))
		case 1:
			fails("Update", m.change(cache.Updated, key, obj), q.Update(obj))
		case 2, 3:
			if c.IntN(4) == 0 {
				obj = cache.DeletedFinalStateUnknown{Key: key, Obj: obj}
			}
			fails("Delete", m.change(cache.Deleted, key, obj), q.Delete(obj))
		case 4:
			list, at := []any{}, fmt.Sprint(20+n)
			for _, key := range keys {
				if c.IntN(2) == 0 {
					list = append(list, object(key, 20+n))
				}
			}
			if len(list) > 0 && c.IntN(8) == 0 {
				list[c.IntN(len(list))].(*metav1.PartialObjectMetadata).ResourceVersion = unmade
			}
			fails("Replace", m.replace(list, at), q.Replace(list, at))
		case 5:
			m.resync()
			fails("Resync", false, q.Resync())
		case 6:
			if f, ok := q.(*cache.RealFIFO); ok {
				if m.marks {
					m.push(queued{cache.Bookmark, "", cache.BookmarkInfo{ResourceVersion: fmt.Sprint(n)}})
				}
				fails("Bookmark", false, f.Bookmark(fmt.Sprint(n)))
			}
		default:
			if len(m.entries) > 0 {
				c.popped(name, q, m)
			}
		}
		c.is("HasSynced of "+name, m.synced, q.HasSynced())
		if len(c.wrong) > 0 {
			return
		}
	}
	q.Close()
	for len(m.entries) > 0 && len(c.wrong) == 0 {
		c.popped(name, q, m)
	}
	_, err := q.Pop(func(any, bool) error { return nil })
	c.is("whether "+name+" that was closed says so when nothing is left", true, errors.Is(err, cache.ErrFIFOClosed))
}

// popped takes what comes next, or as much as comes at once. The error of who processes it is whose call it is.
func (c *check) popped(name string, q cache.Queue, m *queueModel) {
	refuses := errors.New("it is not processed")
	synced, n, calls := m.synced, 1, 0
	batched, _ := q.(cache.QueueWithBatch)
	if batched != nil && c.IntN(2) == 0 {
		n = m.batch()
	} else {
		batched = nil
	}
	if m.byKey {
		m.taken(n)
	}
	want := strings.Join(m.take(n), ", ")
	process := func(deltas []cache.Delta, isInInitialList bool) error {
		calls++
		got := []string{}
		for _, d := range deltas {
			got = append(got, queued{d.Type, "", d.Object}.String())
		}
		c.is("Pop of "+name, want, strings.Join(got, ", "))
		c.is(fmt.Sprintf("whether what comes of %s is part of its initial list, and it has synced", name), [2]bool{!synced, m.synced}, [2]bool{isInInitialList, cache.IsDone(q.HasSyncedChecker())})
		return refuses
	}
	single := func(deltas any, isInInitialList bool) error { return process(deltas.(cache.Deltas), isInInitialList) }
	var err error
	if batched != nil {
		err = batched.PopBatch(process, single)
	} else {
		var popped any
		popped, err = q.Pop(single)
		got := []string{}
		for _, d := range popped.(cache.Deltas) {
			got = append(got, queued{d.Type, "", d.Object}.String())
		}
		c.is("what Pop of "+name+" returns", want, strings.Join(got, ", "))
	}
	if !m.byKey {
		m.taken(n)
	}
	c.is("the error of Pop, after how many calls", [2]any{refuses, 1}, [2]any{err, calls})
}
