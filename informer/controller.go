package informer

import (
	"errors"
	"fmt"

	"k8s.io/client-go/tools/cache"
)

// Store is the destination of a Controller: an Indexer, an Indexer behind a lock, or a test double. Keys come with the
// deltas, so that they are not computed twice.
type Store interface {
	// SetKey stores obj and returns the previous object.
	SetKey(key string, obj any) (old any, existed bool)
	// DeleteKey removes key and returns the previous object; final is the object that came with the deletion.
	DeleteKey(key string, final any) (old any, existed bool)
	// GetByKey returns the object stored under key.
	GetByKey(key string) (obj any, exists bool, err error)
	// ReplaceKeys replaces the content with objs and returns the removed objects in the order in which to notify them.
	ReplaceKeys(keys []string, objs []any, resourceVersion string) []Removed
	// List returns everything in the order in which to notify a SyncAll.
	List() []any
	// Bookmark sets the store's resourceVersion.
	Bookmark(resourceVersion string)
}

var _ Store = &Indexer{}

// Controller pops deltas from a Queue, applies them to a Store and passes the resulting notifications to Distribute: always
// the store first, then the notification (I62). Tests inject defects by replacing single fields.
//
// Queue, Store and Distribute must be set.
type Controller struct {
	Queue Queue
	Store Store
	// Distribute receives the resulting notifications; usually Processor.Distribute.
	Distribute func(Notification)
	// Process handles a popped entry. nil means HandleDeltas.
	Process func(*Popped) error
	// KeyFunc returns the keys of listed objects (ReplacedAll) and of stored ones (SyncAll). nil means MetaNamespaceKey.
	KeyFunc cache.KeyFunc
	// ObjectKeys applies KeyFunc to all objects instead of using the queue's keys. It is needed if a transformer may change
	// an object's key or remove it, which is then an error (I68).
	ObjectKeys bool

	popped  Popped
	pending bool // popped has not been processed
	batch   []Notification
}

// Step pops one entry and processes it. It returns false if the queue was empty. An error is only for logging: the entry is
// gone and is not requeued (I68).
func (c *Controller) Step() (stepped bool, err error) {
	if !c.Pop() {
		return false, nil
	}
	return true, c.ProcessPopped()
}

// Pop is the first half of Step. Between the halves the queue accepts writes unless it is Locked (I60). It returns false if
// the queue is empty or the previous entry is not processed yet.
func (c *Controller) Pop() bool {
	if c.pending || !c.Queue.Pop(&c.popped) {
		return false
	}
	c.pending = true
	return true
}

// ProcessPopped is the second half of Step.
func (c *Controller) ProcessPopped() error {
	if !c.pending {
		return errors.New("no popped entry: call Pop before ProcessPopped")
	}
	c.pending = false
	var err error
	if c.Process != nil {
		err = c.Process(&c.popped)
	} else {
		err = c.HandleDeltas(&c.popped)
	}
	c.Queue.Done()
	return err
}

// Popped returns the entry popped last. It is valid until the next Pop.
func (c *Controller) Popped() *Popped { return &c.popped }

// Processing reports whether a popped entry is not processed yet.
func (c *Controller) Processing() bool { return c.pending }

// HandleDeltas applies the popped deltas, oldest first, and distributes the resulting notifications (I62 to I68).
func (c *Controller) HandleDeltas(p *Popped) error {
	if p.Keys != nil {
		return c.handleBatch(p)
	}
	for i := range p.Deltas {
		if err := c.handleDelta(&p.Deltas[i], p.Key, p.IsInInitialList); err != nil {
			return err
		}
	}
	return nil
}

func (c *Controller) handleDelta(d *cache.Delta, key string, initial bool) error {
	if c.ObjectKeys && batchable(d.Type) {
		var err error
		if key, err = c.keyOf(d.Object); err != nil {
			return err
		}
	}
	switch d.Type {
	case cache.Added, cache.Updated, cache.Replaced, cache.Sync:
		if old, existed := c.Store.SetKey(key, d.Object); existed {
			c.Distribute(Notification{Type: NotifyUpdate, Key: key, Old: old, New: d.Object})
		} else {
			c.Distribute(Notification{Type: NotifyAdd, Key: key, New: d.Object, IsInInitialList: initial})
		}
	case cache.Deleted:
		c.Distribute(c.delete(key, d.Object))
	case cache.ReplacedAll:
		info, ok := d.Object.(cache.ReplacedAllInfo)
		if !ok {
			return errWrongInfo(d.Type, "cache.ReplacedAllInfo", d.Object)
		}
		return c.replaceAll(info, initial)
	case cache.SyncAll:
		if _, ok := d.Object.(cache.SyncAllInfo); !ok {
			return errWrongInfo(d.Type, "cache.SyncAllInfo", d.Object)
		}
		return c.syncAll()
	case cache.Bookmark:
		info, ok := d.Object.(cache.BookmarkInfo)
		if !ok {
			return errWrongInfo(d.Type, "cache.BookmarkInfo", d.Object)
		}
		c.Store.Bookmark(info.ResourceVersion)
	}
	return nil
}

// upsert decides between add and update by the store's content, not by the event's type (I63, I69).
func (c *Controller) upsert(key string, obj any, initial bool) Notification {
	old, existed := c.Store.SetKey(key, obj)
	if existed {
		return Notification{Type: NotifyUpdate, Key: key, Old: old, New: obj}
	}
	return Notification{Type: NotifyAdd, Key: key, New: obj, IsInInitialList: initial}
}

// delete does not ask whether the object existed (I64).
func (c *Controller) delete(key string, obj any) Notification {
	c.Store.DeleteKey(key, obj)
	return Notification{Type: NotifyDelete, Key: key, Old: obj}
}

// handleBatch writes everything, then notifies, so the store may be ahead of the handlers by a batch (I67). Objects without
// a key are left out of both.
func (c *Controller) handleBatch(p *Popped) error {
	if len(p.Keys) != len(p.Deltas) {
		return fmt.Errorf("batch of %d deltas has %d keys, want one each", len(p.Deltas), len(p.Keys))
	}
	for i := range p.Deltas {
		if !batchable(p.Deltas[i].Type) {
			return fmt.Errorf("delta type %s is not supported in a batch", p.Deltas[i].Type)
		}
	}
	c.batch = c.batch[:0]
	var failed error
	for i := range p.Deltas {
		d, key := &p.Deltas[i], p.Keys[i]
		if c.ObjectKeys {
			var err error
			if key, err = c.keyOf(d.Object); err != nil {
				failed = errors.Join(failed, err)
				continue
			}
		}
		if d.Type == cache.Deleted {
			c.batch = append(c.batch, c.delete(key, d.Object))
		} else {
			c.batch = append(c.batch, c.upsert(key, d.Object, p.IsInInitialList))
		}
	}
	for i := range c.batch {
		c.Distribute(c.batch[i])
	}
	clear(c.batch)
	if failed != nil {
		return fmt.Errorf("not all items in the batch successfully processed: %w", failed)
	}
	return nil
}

// batchable reports whether a delta may share a batch with others (I61).
func batchable(t cache.DeltaType) bool {
	switch t {
	case cache.Added, cache.Updated, cache.Replaced, cache.Sync, cache.Deleted:
		return true
	}
	return false
}

// replaceAll compares the list with the store only now to find what is new, changed and gone (I59), replaces the store in
// one go, and notifies the deletions first, then the rest in list order (I65).
func (c *Controller) replaceAll(info cache.ReplacedAllInfo, initial bool) error {
	keys := make([]string, len(info.Objects))
	notes := make([]Notification, len(info.Objects))
	for i, obj := range info.Objects {
		key, err := c.keyOf(obj)
		if err != nil {
			return err
		}
		keys[i] = key
		if old, exists, err := c.Store.GetByKey(key); err == nil && exists && old != nil {
			notes[i] = Notification{Type: NotifyUpdate, Key: key, Old: old, New: obj}
		} else {
			notes[i] = Notification{Type: NotifyAdd, Key: key, New: obj, IsInInitialList: initial}
		}
	}
	for _, gone := range c.Store.ReplaceKeys(keys, info.Objects, info.ResourceVersion) {
		tombstone := cache.DeletedFinalStateUnknown{Key: gone.Key, Obj: gone.Obj}
		c.Distribute(Notification{Type: NotifyDelete, Key: gone.Key, Old: tombstone})
	}
	for i := range notes {
		c.Distribute(notes[i])
	}
	return nil
}

// syncAll notifies an update of every object to itself and writes nothing (I66).
func (c *Controller) syncAll() error {
	for _, obj := range c.Store.List() {
		key, err := c.keyOf(obj)
		if err != nil {
			return err
		}
		c.Distribute(Notification{Type: NotifyUpdate, Key: key, Old: obj, New: obj})
	}
	return nil
}

func (c *Controller) keyOf(obj any) (string, error) {
	if c.KeyFunc == nil {
		return queueKey(MetaNamespaceKey, obj)
	}
	return queueKey(c.KeyFunc, obj)
}
