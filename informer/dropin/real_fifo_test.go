package dropin

import (
	"fmt"
	"testing"
	"testing/synctest"

	"k8s.io/client-go/tools/cache"
)

// TestI60WritersEnterWhileProcessing: a queue that unlocks admits writers while an entry is processed, unless it is long;
// any other queue blocks them.
func TestI60WritersEnterWhileProcessing(t *testing.T) {
	for _, c := range []struct {
		unlock  bool
		queued  int // besides the entry being processed
		entered bool
	}{
		{true, 0, true}, {true, 2*maxBatch - 1, true}, {true, 2 * maxBatch, false}, {false, 0, false},
	} {
		t.Run(fmt.Sprintf("unlock=%v/queued=%d", c.unlock, c.queued), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				q := NewRealFIFOWithOptions(RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: c.unlock})
				for i := range c.queued + 1 {
					if err := q.Add(pod(fmt.Sprint(i))); err != nil {
						t.Fatal(err)
					}
				}
				wrote := false
				_, err := q.Pop(func(any, bool) error {
					go func() {
						_ = q.Add(pod("written meanwhile"))
						wrote = true
					}()
					if c.entered { // a writer blocked on a lock keeps the bubble from becoming quiescent
						synctest.Wait()
						if !wrote {
							t.Error("the writer waits for the end of processing")
						}
					} else if q.mu.TryLock() {
						t.Error("the queue is not locked while it processes")
						q.mu.Unlock()
					}
					return nil
				})
				if err != nil {
					t.Fatal(err)
				}
				synctest.Wait()
				if !wrote || q.queue.Len() != c.queued+1 {
					t.Errorf("after processing: written %v, %d queued", wrote, q.queue.Len())
				}
			})
		})
	}
}

// TestI56I57OptionsThatContradict: contradictory options panic as in client-go.
func TestI56I57OptionsThatContradict(t *testing.T) {
	known := NewStore(MetaNamespaceKeyFunc)
	for name, options := range map[string]RealFIFOOptions{
		"neither":            {},
		"both":               {AtomicEvents: true, KnownObjects: known},
		"unlock, not atomic": {KnownObjects: known, UnlockWhileProcessing: true},
		"bookmarks":          {KnownObjects: known, EmitDeltaTypeBookmark: true},
	} {
		panics := func(make func()) (message any) {
			defer func() { message = recover() }()
			make()
			return nil
		}
		theirs := panics(func() { cache.NewRealFIFOWithOptions(options) })
		ours := panics(func() { NewRealFIFOWithOptions(options) })
		if theirs == nil || ours == nil {
			t.Errorf("%s: client-go %v, ours %v; both must panic", name, theirs, ours)
		}
	}
}

// TestQueueSurvivesAPanicOfItsConsumer: after a panic the lock is free and the entry is gone.
func TestQueueSurvivesAPanicOfItsConsumer(t *testing.T) {
	for name, q := range map[string]interface {
		Queue
		IsClosed() bool
	}{
		"real":     NewRealFIFOWithOptions(RealFIFOOptions{AtomicEvents: true}),
		"unlocked": NewRealFIFOWithOptions(RealFIFOOptions{AtomicEvents: true, UnlockWhileProcessing: true}),
		"delta":    NewDeltaFIFOWithOptions(DeltaFIFOOptions{}),
		"fifo":     NewFIFO(MetaNamespaceKeyFunc),
	} {
		if err := q.Add(pod("a")); err != nil {
			t.Fatal(err)
		}
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("%s: the panic did not propagate", name)
				}
			}()
			_, _ = q.Pop(func(any, bool) error { panic("consumer") })
		}()
		q.Close() // needs the lock
		if _, err := q.Pop(nil); err != ErrFIFOClosed {
			t.Errorf("%s: after the panic Pop returned %v, want ErrFIFOClosed", name, err)
		}
	}
}
