package informer

import (
	"errors"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/cache"
)

// rig is a Controller over one queue that records its notifications.
type rig struct {
	x     *Indexer
	q     Queue
	c     *Controller
	notes []string
	// stored is what the store held for each key when it was notified.
	stored []string
}

func newRig(newQueue func(*Indexer) Queue) *rig {
	g := &rig{x: NewIndexer(IndexerOptions{Indexers: testIndexers()})}
	g.q = newQueue(g.x)
	g.c = &Controller{Queue: g.q, Store: g.x, Distribute: func(n Notification) {
		g.notes = append(g.notes, showNote(n))
		obj, _, _ := g.x.GetByKey(n.Key)
		g.stored = append(g.stored, show(obj))
	}}
	return g
}

func deltaQueue(x *Indexer) Queue { return NewDeltaFIFO(DeltaFIFOOptions{KnownObjects: x}) }

func (g *rig) drain(t testing.TB) []string {
	t.Helper()
	for {
		stepped, err := g.c.Step()
		must(t, err)
		if !stepped {
			break
		}
	}
	notes := g.notes
	g.notes, g.stored = nil, nil
	return notes
}

func TestI62StoreBeforeNotification(t *testing.T) {
	g := newRig(deltaQueue)
	must(t, g.q.Add(pod("a", 1)))
	must(t, g.q.Update(pod("a", 2)))
	must(t, g.q.Delete(pod("a", 3)))
	stepped, err := g.c.Step()
	must(t, err)
	if !stepped {
		t.Fatal("nothing stepped")
	}
	equal(t, g.notes, []string{"add a@1", "update a@1→a@2", "delete a@3"})
	equal(t, g.stored, []string{"a@1", "a@2", "nil"})
}

func TestI63ExistenceDecidesBetweenAddAndUpdate(t *testing.T) {
	g := newRig(deltaQueue)
	must(t, g.q.Update(pod("a", 1)))
	must(t, g.q.Add(pod("b", 1)))
	equal(t, g.drain(t), []string{"add a@1", "add b@1"})
	must(t, g.q.Add(pod("a", 2)))
	must(t, g.q.Replace(anys(pod("b", 1), pod("c", 3)), "3"))
	equal(t, g.drain(t), []string{"update a@1→a@2", "delete ~a(a@2)", "update b@1→b@1", "add c@3"})
}

func TestI64DeletedNotifiesWithoutExistenceCheck(t *testing.T) {
	g := newRig(deltaQueue)
	must(t, g.q.Add(pod("a", 1)))
	must(t, g.q.Delete(pod("a", 2)))
	g.c.Queue.(*DeltaFIFO).entries[0].first.Type = cache.Bookmark // the Added is lost
	g.c.Queue.(*DeltaFIFO).entries[0].first.Object = cache.BookmarkInfo{ResourceVersion: "1"}
	equal(t, g.drain(t), []string{"delete a@2"})
}

func TestI68ErrorsDropTheItem(t *testing.T) {
	g := newRig(deltaQueue)
	must(t, g.q.Add(pod("a", 1)))
	must(t, g.q.Add(pod("b", 1)))
	failed := false
	g.c.Process = func(p *Popped) error {
		if !failed {
			failed = true
			return errBoom
		}
		return g.c.HandleDeltas(p)
	}
	if stepped, err := g.c.Step(); !stepped || err != errBoom {
		t.Fatalf("got %v %v, want an error", stepped, err)
	}
	equal(t, g.drain(t), []string{"add b@1"})
}

func TestI69DeleteAndRecreateAcrossAGapIsOneUpdate(t *testing.T) {
	g := newRig(deltaQueue)
	must(t, g.q.Replace(anys(pod("a", 1)), "1"))
	equal(t, g.drain(t), []string{"add a@1 initial"})
	recreated := pod("a", 5)
	recreated.UID = "another"
	must(t, g.q.Replace(anys(recreated), "5"))
	equal(t, g.drain(t), []string{"update a@1→a@5"})
}

func TestControllerStepsInHalves(t *testing.T) {
	g := newRig(deltaQueue)
	if err := g.c.ProcessPopped(); err == nil {
		t.Fatal("ProcessPopped succeeded before Pop")
	}
	must(t, g.q.Add(pod("a", 1)))
	must(t, g.q.Add(pod("b", 1)))
	if !g.c.Pop() || g.c.Pop() || !g.c.Processing() {
		t.Fatal("Pop succeeded before the previous entry was processed")
	}
	if g.c.Popped().Key != "a" {
		t.Fatalf("popped %q", g.c.Popped().Key)
	}
	must(t, g.c.ProcessPopped())
	equal(t, g.drain(t), []string{"add a@1", "add b@1"})
}

func TestControllerRejectsWrongDeltas(t *testing.T) {
	g := newRig(deltaQueue)
	for _, dt := range []cache.DeltaType{cache.ReplacedAll, cache.SyncAll, cache.Bookmark} {
		err := g.c.HandleDeltas(&Popped{Deltas: cache.Deltas{{Type: dt, Object: "x"}}})
		if err == nil || !strings.Contains(err.Error(), string(dt)) {
			t.Errorf("%s with a string returned %v", dt, err)
		}
	}
	two := cache.Deltas{{Type: cache.Added, Object: pod("a", 1)}, {Type: cache.SyncAll}}
	if err := g.c.HandleDeltas(&Popped{Deltas: two, Keys: []string{"a", ""}}); err == nil {
		t.Error("a batch with a SyncAll was accepted")
	}
	if err := g.c.HandleDeltas(&Popped{Deltas: two, Keys: []string{"a"}}); err == nil {
		t.Error("a batch with a missing key was accepted")
	}
	if len(g.notes) != 0 || g.x.Len() != 0 {
		t.Errorf("rejected deltas left %d notifications, %d objects", len(g.notes), g.x.Len())
	}
}

func TestI68TransformerThatTakesTheKeyAway(t *testing.T) {
	strip := func(obj any) (any, error) {
		if p := obj.(*v1.Pod); p.Name == "bad" {
			return "stripped", nil
		}
		return obj, nil
	}
	for name, newQueue := range map[string]func(x *Indexer) Queue{
		"delta": func(x *Indexer) Queue { return NewDeltaFIFO(DeltaFIFOOptions{KnownObjects: x, Transformer: strip}) },
		"batch": func(x *Indexer) Queue {
			return NewRealFIFO(RealFIFOOptions{KnownObjects: x, Transformer: strip, Batch: true})
		},
	} {
		inf := NewInformer(InformerOptions{NewQueue: newQueue})
		for _, key := range []string{"a", "bad", "c"} {
			must(t, inf.Queue.Add(pod(key, 1)))
		}
		failed := 0
		for {
			stepped, err := inf.Controller.Step()
			var keyErr cache.KeyError
			if errors.As(err, &keyErr) {
				failed++
			}
			if !stepped {
				break
			}
		}
		if failed != 1 {
			t.Errorf("%s: %d key errors, want 1", name, failed)
		}
		equal(t, inf.Indexer.ListKeys(), []string{"a", "c"})
	}
}
