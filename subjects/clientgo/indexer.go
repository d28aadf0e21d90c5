package clientgo

import (
	"slices"
	"strings"

	"github.com/informersim/informersim/subjects"
)

// indexerView tracks the content of client-go's Indexer. It learns of changes from the index function, which the Indexer calls
// with the object that it removes and with the one that it inserts.
type indexerView struct {
	i      *actor
	rescan bool           // the whole content is being replaced, without calls for removed objects
	held   map[string]any // the Indexer's content at the last collect

	touched []touched      // since the last collect
	now     map[string]any // what the Indexer holds now under the keys of touched; if rescan is set, its whole content
}

// touched is an object that was removed or inserted.
type touched struct {
	key string
	obj any
}

func newIndexerView(i *actor) *indexerView {
	return &indexerView{i: i, held: map[string]any{}, now: map[string]any{}}
}

// collect records the changes, sorted by key.
func (v *indexerView) collect() {
	if v.rescan {
		v.rescan = false
		for key := range v.held { // order: sorted below
			v.touched = append(v.touched, touched{key: key})
		}
	}
	slices.SortStableFunc(v.touched, func(a, b touched) int { return strings.Compare(a.key, b.key) })
	for from := 0; from < len(v.touched); {
		to := from + 1
		for to < len(v.touched) && v.touched[to].key == v.touched[from].key {
			to++
		}
		v.changed(v.touched[from:to])
		from = to
	}
	clear(v.touched)
	clear(v.now)
	v.touched = v.touched[:0]
}

// changed records the changes of one key. A call with the current object is a removal; a call with another one is an insertion.
// An object removed and inserted again cannot be told from one that was written again; an object that replaces another counts as
// an update.
func (v *indexerView) changed(ts []touched) {
	key := ts[0].key
	before, existed := v.held[key]
	cur, out := before, false
	for _, t := range ts {
		switch {
		case t.obj == nil:
		case cur != nil && t.obj == cur && !out:
			out = true
		default:
			v.record(key, t.obj, cur)
			cur, out = t.obj, false
		}
	}
	now := v.now[key]
	exists := now != nil
	switch {
	case exists && now != cur:
		v.record(key, now, cur)
	case !exists && cur != nil:
		v.record(key, nil, cur)
	}
	switch {
	case exists:
		v.held[key] = now
	case existed:
		delete(v.held, key)
	}
}

func (v *indexerView) record(key string, now, before any) {
	k := v.i.Kernel
	r := k.Record(v.i.ID, subjects.KindIndexer)
	r.Key, r.Obj, r.Old, r.RV = key, now, before, subjects.RevisionOf(now)
	switch {
	case now == nil:
		r.Detail, r.RV = "delete", subjects.RevisionOf(before)
	case before != nil:
		r.Detail = "update"
	default:
		r.Detail = "add"
	}
	k.Emit(r)
}
