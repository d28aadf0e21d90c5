package mutants

import (
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/tools/cache"

	"github.com/informersim/informersim/informer"
	"github.com/informersim/informersim/subjects"
	"github.com/informersim/informersim/subjects/stack"
)

// flawedStore is a store with a defect; over wraps a store in a new one of the same kind.
type flawedStore interface {
	informer.Store
	over(informer.Store) flawedStore
}

func storeOf(kind flawedStore) subjects.Kind {
	return stack.With(stack.Parts{Store: func(s informer.Store) informer.Store { return kind.over(s) }})
}

// droppingStore loses every second change of an object. Its return values hide that, so only its content is wrong.
type droppingStore struct {
	informer.Store
	changes int
	lost    map[string]any // the latest version of a key, if it was lost
}

func (*droppingStore) over(s informer.Store) flawedStore {
	return &droppingStore{Store: s, lost: map[string]any{}}
}

func (s *droppingStore) SetKey(key string, obj any) (old any, existed bool) {
	old, existed, _ = s.GetByKey(key)
	if lost, ok := s.lost[key]; ok {
		old = lost
	}
	if existed {
		if s.changes++; s.changes%2 == 0 {
			s.lost[key] = obj
			return old, true
		}
	}
	delete(s.lost, key)
	s.Store.SetKey(key, obj)
	return old, existed
}

func (s *droppingStore) DeleteKey(key string, final any) (old any, existed bool) {
	delete(s.lost, key)
	return s.Store.DeleteKey(key, final)
}

// undeletingStore skips every third deletion. Its return values hide that, so only its content is wrong.
type undeletingStore struct {
	informer.Store
	deletions int
	skipped   map[string]bool // keys whose last deletion was skipped
}

func (*undeletingStore) over(s informer.Store) flawedStore {
	return &undeletingStore{Store: s, skipped: map[string]bool{}}
}

func (s *undeletingStore) SetKey(key string, obj any) (old any, existed bool) {
	old, existed = s.Store.SetKey(key, obj)
	if s.skipped[key] {
		delete(s.skipped, key)
		return nil, false
	}
	return old, existed
}

func (s *undeletingStore) DeleteKey(key string, final any) (old any, existed bool) {
	if s.deletions++; s.deletions%3 == 0 {
		s.skipped[key] = true
		old, existed, _ = s.GetByKey(key)
		return old, existed
	}
	return s.Store.DeleteKey(key, final)
}

// newestStore never goes back: it ignores versions older than its own. Under a queue that swaps versions, only the notifications
// are wrong.
type newestStore struct{ informer.Store }

func (s *newestStore) SetKey(key string, obj any) (old any, existed bool) {
	if old, existed, _ = s.GetByKey(key); existed && subjects.RevisionOf(obj) < subjects.RevisionOf(old) {
		return old, true
	}
	return s.Store.SetKey(key, obj)
}

// rememberingStore returns the first version of an object as the old one of every change.
type rememberingStore struct {
	informer.Store
	first map[string]any
}

func (*rememberingStore) over(s informer.Store) flawedStore {
	return &rememberingStore{Store: s, first: map[string]any{}}
}

func (s *rememberingStore) SetKey(key string, obj any) (old any, existed bool) {
	if _, seen := s.first[key]; !seen {
		s.first[key] = obj
	}
	if _, existed = s.Store.SetKey(key, obj); !existed {
		return nil, false
	}
	return s.first[key], true
}

// meddlingStore stores a changed copy.
type meddlingStore struct{ informer.Store }

func (*meddlingStore) over(s informer.Store) flawedStore { return &meddlingStore{s} }

func (s *meddlingStore) SetKey(key string, obj any) (old any, existed bool) {
	return s.Store.SetKey(key, changed(obj))
}

// changed returns a copy of an object with an extra annotation.
func changed(obj any) any {
	o, ok := obj.(runtime.Object)
	if !ok {
		return obj
	}
	o = o.DeepCopyObject()
	m, err := meta.Accessor(o)
	if err != nil {
		return obj
	}
	a := m.GetAnnotations()
	if a == nil {
		a = map[string]string{}
	}
	a["meddled"] = "with"
	m.SetAnnotations(a)
	return o
}

// notifyBeforeStore notifies handlers at once and writes the store only when the next entry is popped. As a handler call is a
// choice of its own, it can see the difference. The initial list is left alone: HasSynced covers it.
func notifyBeforeStore(c *informer.Controller) func(*informer.Popped) error {
	late := &lateStore{Store: c.Store}
	c.Store = late
	return func(p *informer.Popped) error {
		late.flush()
		err := c.HandleDeltas(p)
		if p.IsInInitialList {
			late.flush()
		}
		return err
	}
}

// lateStore delays writes until flush. Its own methods see them at once.
type lateStore struct {
	informer.Store
	pending []func()
	ahead   map[string]any // nil for a deletion
}

func (s *lateStore) flush() {
	for _, write := range s.pending {
		write()
	}
	s.pending, s.ahead = nil, map[string]any{}
}

func (s *lateStore) now(key string) (any, bool) {
	if obj, written := s.ahead[key]; written {
		return obj, obj != nil
	}
	obj, ok, _ := s.Store.GetByKey(key)
	return obj, ok
}

func (s *lateStore) SetKey(key string, obj any) (old any, existed bool) {
	old, existed = s.now(key)
	s.ahead[key] = obj
	s.pending = append(s.pending, func() { s.Store.SetKey(key, obj) })
	return old, existed
}

func (s *lateStore) DeleteKey(key string, final any) (old any, existed bool) {
	old, existed = s.now(key)
	s.ahead[key] = nil
	s.pending = append(s.pending, func() { s.Store.DeleteKey(key, final) })
	return old, existed
}

// inventFinalState gives the final state of deletions another resourceVersion.
func inventFinalState(c *informer.Controller) func(*informer.Popped) error {
	return func(p *informer.Popped) error {
		for i := range p.Deltas {
			d := &p.Deltas[i]
			if d.Type != cache.Deleted {
				continue
			}
			if _, unknown := d.Object.(cache.DeletedFinalStateUnknown); unknown {
				continue
			}
			if o, ok := d.Object.(runtime.Object); ok {
				o = o.DeepCopyObject()
				if m, err := meta.Accessor(o); err == nil {
					m.SetResourceVersion(m.GetResourceVersion() + "7")
					d.Object = o
				}
			}
		}
		return c.HandleDeltas(p)
	}
}
