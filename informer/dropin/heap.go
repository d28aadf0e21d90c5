package dropin

import (
	"container/heap"
	"errors"
	"sync"
)

var (
	errHeapClosed   = errors.New("heap is closed")
	errHeapNotFound = errors.New("object not found")
)

// Heap is a queue that hands out the least object first, by a LessFunc.
type Heap struct {
	mu     sync.RWMutex
	cond   sync.Cond
	data   heapData
	closed bool
}

// NewHeap returns an empty heap.
func NewHeap(keyFn KeyFunc, lessFn LessFunc) *Heap {
	h := &Heap{data: heapData{byKey: map[string]*heapItem{}, keyFunc: keyFn, less: lessFn}}
	h.cond.L = &h.mu
	return h
}

// Close makes writes fail, and Pop once the heap is empty.
func (h *Heap) Close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.closed = true
	h.cond.Broadcast()
}

// IsClosed reports whether Close was called.
func (h *Heap) IsClosed() bool {
	h.mu.RLock()
	defer h.mu.RUnlock()
	return h.closed
}

// Add adds an object, replacing one with the same key.
func (h *Heap) Add(obj any) error { return h.write([]any{obj}, true) }

// Update is Add.
func (h *Heap) Update(obj any) error { return h.Add(obj) }

// BulkAdd adds all objects before Pop sees the first.
func (h *Heap) BulkAdd(list []any) error { return h.write(list, true) }

// AddIfNotPresent adds an object unless one with the same key exists.
func (h *Heap) AddIfNotPresent(obj any) error { return h.write([]any{obj}, false) }

func (h *Heap) write(list []any, replace bool) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.closed {
		return errHeapClosed
	}
	defer h.cond.Broadcast()
	for _, obj := range list {
		key, err := h.data.keyOf(obj)
		if err != nil {
			return err
		}
		item := h.data.byKey[key]
		switch {
		case item == nil:
			heap.Push(&h.data, &heapItem{key: key, obj: obj})
		case replace:
			item.obj = obj
			heap.Fix(&h.data, item.pos)
		}
	}
	return nil
}

// Delete removes the object with obj's key. It fails if there is none.
func (h *Heap) Delete(obj any) error {
	key, err := h.data.keyOf(obj)
	if err != nil {
		return err
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	item := h.data.byKey[key]
	if item == nil {
		return errHeapNotFound
	}
	heap.Remove(&h.data, item.pos)
	return nil
}

// Pop waits for an object and removes the least. It fails if the heap is closed and empty.
func (h *Heap) Pop() (any, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.data.Len() == 0 {
		if h.closed {
			return nil, errHeapClosed
		}
		h.cond.Wait()
	}
	return heap.Pop(&h.data).(*heapItem).obj, nil
}

// List returns the objects in no order.
func (h *Heap) List() []any {
	h.mu.RLock()
	defer h.mu.RUnlock()
	list := make([]any, 0, len(h.data.items))
	for _, item := range h.data.items {
		list = append(list, item.obj)
	}
	return list
}

// ListKeys returns the keys in no order.
func (h *Heap) ListKeys() []string {
	h.mu.RLock()
	defer h.mu.RUnlock()
	list := make([]string, 0, len(h.data.items))
	for _, item := range h.data.items {
		list = append(list, item.key)
	}
	return list
}

// Get returns the object with obj's key.
func (h *Heap) Get(obj any) (any, bool, error) {
	key, err := h.data.keyOf(obj)
	if err != nil {
		return nil, false, err
	}
	return h.GetByKey(key)
}

// GetByKey returns the object under key. The error is always nil.
func (h *Heap) GetByKey(key string) (any, bool, error) {
	h.mu.RLock()
	defer h.mu.RUnlock()
	if item := h.data.byKey[key]; item != nil {
		return item.obj, true, nil
	}
	return nil, false, nil
}

type heapItem struct {
	key string
	obj any
	pos int
}

// heapData implements heap.Interface.
type heapData struct {
	items   []*heapItem
	byKey   map[string]*heapItem
	keyFunc KeyFunc
	less    LessFunc
}

func (d *heapData) keyOf(obj any) (string, error) {
	key, err := d.keyFunc(obj)
	if err != nil {
		return "", KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

func (d *heapData) Len() int           { return len(d.items) }
func (d *heapData) Less(i, j int) bool { return d.less(d.items[i].obj, d.items[j].obj) }

func (d *heapData) Swap(i, j int) {
	d.items[i], d.items[j] = d.items[j], d.items[i]
	d.items[i].pos, d.items[j].pos = i, j
}

func (d *heapData) Push(x any) {
	item := x.(*heapItem)
	item.pos = len(d.items)
	d.items = append(d.items, item)
	d.byKey[item.key] = item
}

func (d *heapData) Pop() any {
	last := len(d.items) - 1
	item := d.items[last]
	d.items[last] = nil
	d.items = d.items[:last]
	delete(d.byKey, item.key)
	return item
}
