package clientgo

import (
	"slices"

	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/subjects"
)

// indexerView follows what client-go's Indexer holds. It is told of changes by the index function, which the Indexer calls
// with the object that it takes out and with the one that it puts in.
type indexerView struct {
	i      *informer
	rescan bool           // the whole content is replaced: what is gone is not told of
	held   map[string]any // what the Indexer holds, as of the last collect

	touched []any // guarded by the bubble's mu
	keys    []string
}

func newIndexerView(i *informer) *indexerView { return &indexerView{i: i, held: map[string]any{}} }

// observe is the function of the namespace index.
func (v *indexerView) observe(obj any) ([]string, error) {
	b := v.i.s.bubble
	b.mu.Lock()
	v.touched = append(v.touched, obj)
	b.mu.Unlock()
	return cache.MetaNamespaceIndexFunc(obj)
}

// collect notes the changes, in the order of keys.
func (v *indexerView) collect() {
	b := v.i.s.bubble
	b.mu.Lock()
	v.keys = v.keys[:0]
	for k, obj := range v.touched {
		if key, err := cache.MetaNamespaceKeyFunc(obj); err == nil {
			v.keys = append(v.keys, key)
		}
		v.touched[k] = nil
	}
	v.touched = v.touched[:0]
	b.mu.Unlock()
	if v.rescan {
		v.rescan = false
		for key := range v.held { // order: sorted below
			v.keys = append(v.keys, key)
		}
	}
	if len(v.keys) == 0 {
		return
	}
	slices.Sort(v.keys)
	indexer := v.i.inf.GetIndexer()
	for k, key := range v.keys {
		if k > 0 && key == v.keys[k-1] {
			continue
		}
		now, exists, err := indexer.GetByKey(key)
		if err != nil {
			v.i.kernel.Fail(err)
			return
		}
		v.changed(key, now, exists)
	}
}

func (v *indexerView) changed(key string, now any, exists bool) {
	before, existed := v.held[key]
	if !exists && !existed {
		return
	}
	k := v.i.kernel
	r := k.Record(v.i.id, subjects.KindIndexer)
	r.Key, r.Obj, r.Old, r.RV = key, now, before, revisionOf(now)
	switch {
	case !exists:
		delete(v.held, key)
		r.Detail, r.RV = "delete", revisionOf(before)
	case existed:
		v.held[key] = now
		r.Detail = "update"
	default:
		v.held[key] = now
		r.Detail = "add"
	}
	k.Emit(r)
}
