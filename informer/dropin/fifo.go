package dropin

// FIFO is a queue of the latest state of each object: an object that changes while queued keeps its place; a deleted one
// leaves.
type FIFO struct {
	fifoBase
	keyFunc    KeyFunc
	items      map[string]any
	queue      []string // in order; may hold keys that were deleted since
	population population
}

var (
	_ Queue       = (*FIFO)(nil)
	_ DoneChecker = (*FIFO)(nil)
)

// NewFIFO returns an empty queue.
func NewFIFO(keyFunc KeyFunc) *FIFO {
	f := &FIFO{keyFunc: keyFunc, items: map[string]any{}}
	f.init("FIFO")
	return f
}

// HasSyncedChecker returns the queue itself.
func (f *FIFO) HasSyncedChecker() DoneChecker { return f }

// Add queues an object, or updates it in place if it is already queued.
func (f *FIFO) Add(obj any) error {
	key, err := f.keyOf(obj)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.markPopulated()
	if _, queued := f.items[key]; !queued {
		f.queue = append(f.queue, key)
	}
	f.items[key] = obj
	f.cond.Broadcast()
	return nil
}

// Update is Add.
func (f *FIFO) Update(obj any) error { return f.Add(obj) }

// Delete removes an object from the queue.
func (f *FIFO) Delete(obj any) error {
	key, err := f.keyOf(obj)
	if err != nil {
		return err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.markPopulated()
	delete(f.items, key)
	return nil
}

// Pop waits for an object, removes it and processes it under the queue's lock. It returns the object and the error of
// process, or ErrFIFOClosed.
func (f *FIFO) Pop(process PopProcessFunc) (any, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	defer func() { f.sync(f.population.synced()) }()
	for {
		if err := f.wait(func() int { return len(f.queue) }); err != nil {
			return nil, err
		}
		initial := !f.syncClosed
		key := f.queue[0]
		f.queue[0] = ""
		f.queue = f.queue[1:]
		f.population.taken(1)
		item, queued := f.items[key]
		if !queued {
			continue // deleted since
		}
		delete(f.items, key)
		return item, process(item, initial)
	}
}

// Replace replaces the queue's content with list.
func (f *FIFO) Replace(list []any, _ string) error {
	items := make(map[string]any, len(list))
	queue := make([]string, 0, len(list))
	for _, obj := range list {
		key, err := f.keyOf(obj)
		if err != nil {
			return err
		}
		if _, listed := items[key]; !listed {
			queue = append(queue, key)
		}
		items[key] = obj
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.population.begin(len(items))
	f.sync(f.population.synced())
	f.items, f.queue = items, queue
	f.cond.Broadcast()
	return nil
}

// Resync does nothing: every object is already queued.
func (f *FIFO) Resync() error { return nil }

// List returns the queued objects in no order.
func (f *FIFO) List() []any {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]any, 0, len(f.items))
	for _, item := range f.items {
		list = append(list, item)
	}
	return list
}

// ListKeys returns the queued keys in no order.
func (f *FIFO) ListKeys() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	list := make([]string, 0, len(f.items))
	for key := range f.items {
		list = append(list, key)
	}
	return list
}

// Get returns the queued object with obj's key.
func (f *FIFO) Get(obj any) (item any, exists bool, err error) {
	key, err := f.keyOf(obj)
	if err != nil {
		return nil, false, err
	}
	return f.GetByKey(key)
}

// GetByKey returns the queued object under key.
func (f *FIFO) GetByKey(key string) (item any, exists bool, err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	item, exists = f.items[key]
	return item, exists, nil
}

func (f *FIFO) keyOf(obj any) (string, error) {
	key, err := f.keyFunc(obj)
	if err != nil {
		return "", KeyError{Obj: obj, Err: err}
	}
	return key, nil
}

func (f *FIFO) markPopulated() {
	f.population.populated = true
	f.sync(f.population.synced())
}
