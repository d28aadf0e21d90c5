package stack

import (
	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/subjects"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"
)

// observedQueue records a Replace's effect on the queue. The deltas of single events need no records: they follow from the frames.
type observedQueue struct {
	informer.Queue
	keyed     informer.KeyedWriter // Queue, if it implements it
	informer  *actor
	atomic    bool // a Replace's deletions become visible only when it is processed
	replacing bool
}

// WriteKeyed implements informer.KeyedWriter, whether or not the queue behind it does.
func (q *observedQueue) WriteKeyed(t cache.DeltaType, key string, obj any) error {
	switch {
	case q.keyed != nil:
		return q.keyed.WriteKeyed(t, key, obj)
	case t == cache.Added:
		return q.Queue.Add(obj)
	case t == cache.Deleted:
		return q.Queue.Delete(obj)
	}
	return q.Queue.Update(obj)
}

// Replace implements informer.QueueWriter.
func (q *observedQueue) Replace(list []any, rv string) error {
	k := q.informer.Kernel
	if n := q.refused(list); n > 0 {
		q.informer.NoteList(n)
		return q.Queue.Replace(list, rv) // fails
	}
	keys := make([]string, 0, len(list))
	for _, obj := range list {
		key, err := informer.MetaNamespaceKey(obj)
		if err != nil {
			return err
		}
		keys = append(keys, key)
	}
	r := k.Record(q.informer.ID, subjects.KindReplace)
	r.N, r.Obj = int64(len(list)), keys
	if !q.atomic {
		r.Detail = subjects.TombstonesVisible
	}
	r.RV = subjects.ParseRevision(rv)
	k.Emit(r)
	q.replacing = true
	err := q.Queue.Replace(list, rv)
	q.replacing = false
	return err
}

// refused returns for how many objects of a list the transform fails.
func (q *observedQueue) refused(list []any) (n int) {
	if q.informer.Spec.Transform.FailLabel == "" {
		return 0
	}
	for _, obj := range list {
		if o, ok := obj.(runtime.Object); ok && q.informer.Refuses(o) {
			n++
		}
	}
	return n
}

// Resync implements informer.QueueWriter.
func (q *observedQueue) Resync() error {
	before := q.Queue.Len()
	err := q.Queue.Resync()
	k := q.informer.Kernel
	r := k.Record(q.informer.ID, subjects.KindResync)
	r.N = int64(q.Queue.Len() - before)
	k.Emit(r)
	return err
}

func (q *observedQueue) enqueued(t cache.DeltaType, key string, _ any) {
	if q.replacing && t == cache.Deleted {
		k := q.informer.Kernel
		r := k.Record(q.informer.ID, subjects.KindTombstone)
		r.Key = key
		k.Emit(r)
	}
}

// observedStore records the controller's writes to the Indexer.
type observedStore struct {
	informer.Store
	informer *actor
}

// SetKey implements informer.Store.
func (s *observedStore) SetKey(key string, obj any) (old any, existed bool) {
	old, existed = s.Store.SetKey(key, obj)
	detail := "add"
	if existed {
		detail = "update"
	}
	s.record(key, detail, obj, old)
	return old, existed
}

// DeleteKey implements informer.Store.
func (s *observedStore) DeleteKey(key string, final any) (old any, existed bool) {
	old, existed = s.Store.DeleteKey(key, final)
	s.record(key, "delete", nil, old)
	return old, existed
}

// ReplaceKeys implements informer.Store.
func (s *observedStore) ReplaceKeys(keys []string, objs []any, resourceVersion string) []informer.Removed {
	before := make([]any, len(keys))
	for n, key := range keys {
		if old, exists, err := s.Store.GetByKey(key); err == nil && exists {
			before[n] = old
		}
	}
	gone := s.Store.ReplaceKeys(keys, objs, resourceVersion)
	for _, g := range gone {
		s.record(g.Key, "delete", nil, g.Obj)
	}
	for n, key := range keys {
		if before[n] != nil {
			s.record(key, "update", objs[n], before[n])
		} else {
			s.record(key, "add", objs[n], nil)
		}
	}
	return gone
}

func (s *observedStore) record(key, detail string, obj, old any) {
	k := s.informer.Kernel
	r := k.Record(s.informer.ID, subjects.KindIndexer)
	r.Key, r.Detail, r.Obj, r.Old = key, detail, obj, old
	if obj != nil {
		r.RV = s.informer.revisions.of(obj)
	} else {
		r.RV = s.informer.revisions.of(old)
	}
	k.Emit(r)
}
