package transport

import "sync"

// Background runs work outside of the kernel's steps, in a goroutine that lives while there is some: one after the other, each
// followed by a function inside a step.
type Background struct {
	Driver Driver

	mu      sync.Mutex
	waiting []job
	running bool
}

type job struct{ work, then func() }

// Run queues work, and returns. It may be called inside a step.
func (b *Background) Run(work, then func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.waiting = append(b.waiting, job{work, then})
	if !b.running {
		b.running = true
		go b.drain()
	}
}

// Beside runs work that may wait for others in a goroutine of its own, and then a function inside a step.
func (b *Background) Beside(work, then func()) {
	go func() {
		work()
		b.Driver.Do(then)
	}()
}

func (b *Background) drain() {
	for {
		next, ok := b.next()
		if !ok {
			return
		}
		next.work()
		b.Driver.Do(next.then)
	}
}

func (b *Background) next() (job, bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.waiting) == 0 {
		b.running = false
		return job{}, false
	}
	first := b.waiting[0]
	b.waiting = b.waiting[1:]
	return first, true
}
