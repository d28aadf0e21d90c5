package library

import (
	"fmt"
	"slices"
	"strings"

	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
)

// known is the store that a queue knows of.
type known map[string]any

func (k known) ListKeys() []string {
	var all []string
	for _, key := range keys {
		if k[key] != nil {
			all = append(all, key)
		}
	}
	return all
}

func (k known) GetByKey(key string) (any, bool, error) { return k[key], k[key] != nil, nil }

// queued describes a delta.
func queued(t cache.DeltaType, key string, obj any) string {
	if d, ok := obj.(cache.DeletedFinalStateUnknown); ok {
		return fmt.Sprintf("%s %s tombstone %s (%s)", t, key, text(d.Obj), d.Key)
	}
	return fmt.Sprintf("%s %s %s", t, key, text(obj))
}

// queueModel is what a queue should hold: for DeltaFIFO by key, in the order of their first deltas; for RealFIFO all are of one key.
type queueModel struct {
	byKey  bool
	order  []string
	deltas map[string][]modelDelta
	store  known
	synced bool
	first  bool            // there was a list, or an event
	left   int             // of the first list
	blind  bool            // the queue knows no store
	batch  bool            // it hands out as many at once as it may
	listed cache.DeltaType // how a list's objects come
	pushed int
}

type modelDelta struct {
	t   cache.DeltaType
	key string
	obj any
}

func (m *queueModel) push(t cache.DeltaType, key string, obj any) {
	at := key
	if !m.byKey {
		m.pushed++
		at = fmt.Sprint(m.pushed)
	}
	if _, there := m.deltas[at]; !there {
		m.order = append(m.order, at)
	}
	all := m.deltas[at]
	if n := len(all); n > 0 && t == cache.Deleted && all[n-1].t == cache.Deleted {
		if _, tombstone := all[n-1].obj.(cache.DeletedFinalStateUnknown); tombstone {
			all[n-1].obj = obj
		}
		return
	}
	m.deltas[at] = append(all, modelDelta{t, key, obj})
}

// newest returns the last delta that is queued of a key.
func (m *queueModel) newest(key string) (d modelDelta, ok bool) {
	for _, at := range m.order {
		for _, x := range m.deltas[at] {
			if x.key == key {
				d, ok = x, true
			}
		}
	}
	return d, ok
}

func (m *queueModel) event() {
	if !m.first {
		m.first, m.synced = true, true
	}
}

// write is an event of a watch. It reports whether it fails.
func (m *queueModel) write(t cache.DeltaType, key string, obj any) bool {
	m.event()
	if _, there := m.newest(key); m.byKey && t == cache.Deleted && !there && m.store[key] == nil {
		return false
	}
	obj, err := made(obj)
	if err != nil {
		return true
	}
	m.push(t, key, obj)
	return false
}

// replace is a list; it has no object that cannot be transformed.
func (m *queueModel) replace(list []any) {
	listed := map[string]bool{}
	for _, obj := range list {
		listed[text(obj)[:5]] = true
	}
	relist := func() {
		for _, obj := range list {
			o, _ := made(obj)
			m.push(m.listed, text(obj)[:5], o)
		}
	}
	if m.byKey {
		relist()
	}
	var queuedKeys []string
	for _, at := range m.order {
		for _, d := range m.deltas[at] {
			if !slices.Contains(queuedKeys, d.key) {
				queuedKeys = append(queuedKeys, d.key)
			}
		}
	}
	for _, key := range queuedKeys {
		d, _ := m.newest(key)
		if listed[key] || !m.byKey && d.t == cache.Deleted {
			continue
		}
		obj := d.obj
		if t, tombstone := obj.(cache.DeletedFinalStateUnknown); tombstone {
			obj = t.Obj
		}
		m.push(cache.Deleted, key, cache.DeletedFinalStateUnknown{Key: key, Obj: obj})
	}
	for _, key := range m.store.ListKeys() {
		if !listed[key] && !slices.Contains(queuedKeys, key) {
			m.push(cache.Deleted, key, cache.DeletedFinalStateUnknown{Key: key, Obj: m.store[key]})
		}
	}
	if !m.byKey {
		relist()
	}
	if !m.first {
		m.first, m.left = true, len(m.order)
		m.synced = m.left == 0
	}
}

func (m *queueModel) resync() {
	for _, key := range m.store.ListKeys() {
		if _, there := m.newest(key); !there {
			m.push(cache.Sync, key, m.store[key])
		}
	}
}

// pop returns what comes next.
func (m *queueModel) pop() (texts []string, initial bool) {
	at := m.order[0]
	m.order = m.order[1:]
	for _, d := range m.deltas[at] {
		texts = append(texts, queued(d.t, d.key, d.obj))
		if d.t == cache.Deleted {
			delete(m.store, d.key)
		} else if !m.blind {
			m.store[d.key] = d.obj
		}
	}
	delete(m.deltas, at)
	return texts, !m.synced
}

// most is how many entries come at once: up to a key that has come already, and to the end of the first list (I61).
func (m *queueModel) most() (n int) {
	if !m.batch {
		return 1
	}
	seen := map[string]bool{}
	for _, at := range m.order {
		key := m.deltas[at][0].key
		if seen[key] || n > 0 && n == m.left {
			break
		}
		seen[key] = true
		n++
	}
	return n
}

// taken counts what was popped.
func (m *queueModel) taken(n int) {
	if m.left > 0 {
		m.left -= n
		m.synced = m.synced || m.left == 0
	}
}

func deltaQueues(c *check) {
	m := &queueModel{byKey: true, deltas: map[string][]modelDelta{}, store: known{}, blind: c.oneIn(4), listed: cache.Replaced}
	o := informer.DeltaFIFOOptions{KnownObjects: m.store, Transformer: made, EmitSyncOnReplace: c.oneIn(4)}
	if m.blind {
		o.KnownObjects = nil
	}
	if o.EmitSyncOnReplace {
		m.listed = cache.Sync
	}
	if c.oneIn(4) {
		o.KeyFunc = informer.MetaNamespaceKey // as somebody's own
	}
	c.queue(m, func() informer.Queue { return informer.NewDeltaFIFO(o) })
	c.failsMidway()
	c.longQueue()
}

func realQueues(c *check) {
	m := &queueModel{deltas: map[string][]modelDelta{}, store: known{}, listed: cache.Replaced}
	m.batch = c.oneIn(2)
	c.atomicQueue()
	o := informer.RealFIFOOptions{KnownObjects: m.store, Transformer: made, Batch: m.batch}
	if c.oneIn(4) {
		o.KeyFunc = informer.MetaNamespaceKey // as somebody's own
	}
	c.queue(m, func() informer.Queue { return informer.NewRealFIFO(o) })
}

// keyed is a queue that says what key something has.
type keyed interface{ KeyOf(any) (string, error) }

// keysOf asks a queue for the keys of deltas, and of what stands for an object.
func (c *check) keysOf(q informer.Queue) {
	k, ok := q.(keyed)
	if !ok {
		return
	}
	deltas := cache.Deltas{{Type: cache.Added, Object: object("ns1/a", 1)}, {Type: cache.Deleted, Object: cache.DeletedFinalStateUnknown{Key: "ns2/b"}}}
	for _, of := range []struct {
		obj  any
		want string
	}{{object("ns1/a", 1), "ns1/a"}, {deltas, "ns2/b"}, {deltas[:1], "ns1/a"}, {deltas[1], "ns2/b"}, {cache.ExplicitKey("ns2/a"), "ns2/a"}, {cache.ExplicitKey("c"), "c"}} {
		key, err := k.KeyOf(of.obj)
		c.is(fmt.Sprintf("the error of KeyOf a %T", of.obj), nil, err)
		c.is(fmt.Sprintf("KeyOf a %T", of.obj), of.want, key)
	}
	_, err := k.KeyOf(cache.Deltas{})
	c.is("KeyOf no deltas: there is an error", true, err != nil)
}

// queue holds a queue against the model. Its store may hold something before the first list, as that of an informer which starts again does.
func (c *check) queue(m *queueModel, make func() informer.Queue) {
	for _, key := range keys {
		if c.oneIn(4) && !m.blind {
			m.store[key] = object(key, 1)
		}
	}
	q := make()
	c.keysOf(q)
	if c.oneIn(2) {
		c.list(m, q, 0)
	}
	for n := range 30 {
		obj := object(c.key(), 10+c.IntN(8))
		key := obj.Namespace + "/" + obj.Name
		switch c.IntN(10) {
		case 9:
			c.keyless(m, q)
		case 0, 1:
			c.is("Add fails", m.write(cache.Added, key, obj), q.Add(obj) != nil)
		case 2:
			keyed := q.(informer.KeyedWriter)
			t := []cache.DeltaType{cache.Added, cache.Updated, cache.Deleted}[c.IntN(3)]
			c.is("WriteKeyed fails", m.write(t, key, obj), keyed.WriteKeyed(t, key, obj) != nil)
		case 3, 4:
			c.is("Delete fails", m.write(cache.Deleted, key, obj), q.Delete(obj) != nil)
		case 5:
			c.list(m, q, n)
		case 6:
			c.is("Resync", nil, q.Resync())
			m.resync()
		default:
			c.pop(m, q)
		}
		c.is("Len", len(m.order), q.Len())
		c.is("HasSynced", m.synced, q.HasSynced())
	}
	for range 64 {
		c.pop(m, q)
	}
	if c.oneIn(2) { // it is closed with something left
		c.is("Add", nil, q.Add(object(keys[0], 9)))
	}
	c.is("IsClosed of a queue that is not", false, q.IsClosed())
	q.Close()
	c.is("IsClosed", true, q.IsClosed())
	c.doubts(m.byKey)
}

// keyless writes what has no key. It counts as an event, but for a deletion that a DeltaFIFO does not know.
func (c *check) keyless(m *queueModel, q informer.Queue) {
	switch c.IntN(3) {
	case 0:
		m.event()
		c.is("Add of what has no key fails", true, q.Add(0) != nil)
	case 1:
		m.event()
		c.is("Update of what has no key fails", true, q.Update(0) != nil)
	default:
		if !m.byKey {
			m.event()
		}
		c.is("Delete of what has no key fails", true, q.Delete(0) != nil)
	}
}

func (c *check) list(m *queueModel, q informer.Queue, n int) {
	var list []any
	for _, key := range keys {
		if c.oneIn(2) {
			list = append(list, object(key, 20+n))
		}
	}
	if len(list) > 0 && c.oneIn(4) { // a list may have an object twice
		list = append(list, object(text(list[0])[:5], 60+n))
	}
	m.replace(list)
	c.is("Replace", nil, q.Replace(list, "1"))
}

// pop takes what comes next. Of a batch each delta is one step of the model's.
func (c *check) pop(m *queueModel, q informer.Queue) {
	var p informer.Popped
	ok := q.Pop(&p)
	c.is("Pop: there is something", len(m.order) > 0, ok)
	if !ok || len(m.order) == 0 {
		return
	}
	c.is("Locked while it processes", true, q.Locked())
	c.is("keys of a batch that differ", len(p.Keys), len(slices.Compact(sorted(p.Keys))))
	var want, got []string
	var initial bool
	steps := 1
	if p.Keys != nil {
		steps = len(p.Keys)
	}
	c.is("how many entries come at once", m.most(), steps)
	synced := m.synced
	for range min(steps, len(m.order)) {
		texts, first := m.pop()
		want, initial = append(want, texts...), first
	}
	for i, d := range p.Deltas {
		key := p.Key
		if p.Keys != nil {
			key = p.Keys[i]
		}
		got = append(got, queued(d.Type, key, d.Object))
	}
	c.is("Pop", strings.Join(want, ", "), strings.Join(got, ", "))
	c.is("Pop: it is of the initial list", initial, p.IsInInitialList)
	if !m.byKey {
		c.is("HasSynced before what was popped is processed", synced, q.HasSynced())
		c.is("a batch goes beyond the initial list", false, m.left > 0 && steps > m.left)
	}
	q.Done()
	m.taken(steps)
	c.is("Locked afterwards", false, q.Locked())
	c.is("HasSynced afterwards", m.synced, q.HasSynced())
}
