package library

import (
	"fmt"
	"slices"

	"k8s.io/client-go/util/workqueue"
)

// workQueue is what a work queue has been given, and what of it is processed.
type workQueue struct {
	ready      []string
	dirty      map[string]bool // added while it was processed
	processing []string
	closed     bool
	touched    int
}

// touched is the order of a work queue's keys, that in which they come, and counts what it is told of keys that are added again.
type touched struct {
	workqueue.Queue[string]
	n int
}

// Touch implements workqueue.Queue.
func (q *touched) Touch(string) { q.n++ }

func (m *workQueue) add(key string) {
	switch {
	case m.closed:
	case slices.Contains(m.ready, key):
		m.touched++
	case slices.Contains(m.processing, key):
		m.dirty[key] = true
	default:
		m.ready = append(m.ready, key)
	}
}

func (m *workQueue) done(n int) (key string) {
	key = m.processing[n]
	m.processing = slices.Delete(m.processing, n, n+1)
	if m.dirty[key] {
		delete(m.dirty, key)
		m.ready = append(m.ready, key)
	}
	return key
}

// drains fills a work queue, and has it drain while some of its keys are processed.
func drains(c *check) {
	order := &touched{Queue: workqueue.DefaultQueue[string]()}
	q, m := workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[string]{Name: []string{"", "q"}[c.IntN(2)], Queue: order}), &workQueue{dirty: map[string]bool{}}
	for range 12 {
		c.works(q, m)
	}
	c.is("how often a key was added that was ready", m.touched, order.n)
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		q.ShutDownWithDrain()
	}()
	c.quiesce()
	m.closed = true
	over, cut := len(m.processing) == 0, c.IntN(48) // ShutDown ends the wait
	for n := 0; n < 24 && len(c.wrong) == 0; n++ {
		select {
		case <-drained:
			c.is(fmt.Sprintf("ShutDownWithDrain has returned while %v are processed", m.processing), over, true)
		default:
			c.is("ShutDownWithDrain has returned although nothing was processed", over, false)
		}
		before := len(m.processing)
		if n == cut {
			q.ShutDown()
			over = true
		}
		c.works(q, m)
		over = over || before > 0 && len(m.processing) == 0
		c.quiesce()
	}
	q.ShutDown()
	c.quiesce()
	c.drainsTwice()
	c.untaken()
	c.leftOver()
	c.drainedAfterShutDown()
	c.ordersAlone()
}

// drainedAfterShutDown has somebody wait for a queue to drain that was shut down before.
func (c *check) drainedAfterShutDown() {
	q := workqueue.NewTyped[string]()
	q.Add("a")
	key, _ := q.Get()
	q.ShutDown()
	before, after := c.waits(q.ShutDownWithDrain, func() { q.Done(key) })
	c.is("whether somebody waits for a queue to drain that was shut down before, until it has, and then", [2]bool{true, false}, [2]bool{before, after})
}

// works adds a key, takes one, or is done with one.
func (c *check) works(q workqueue.TypedInterface[string], m *workQueue) {
	switch n := c.IntN(3); {
	case n == 0 && len(m.processing) > 0:
		q.Done(m.done(c.IntN(len(m.processing))))
	case n == 1 && (len(m.ready) > 0 || m.closed):
		key, shutdown := q.Get()
		c.is("Get: the queue is shut down, and empty", len(m.ready) == 0, shutdown)
		if len(m.ready) > 0 {
			c.is("Get", m.ready[0], key)
			m.ready, m.processing = m.ready[1:], append(m.processing, m.ready[0])
		}
	default:
		key := c.key()
		q.Add(key)
		m.add(key)
	}
	c.is("Len of the work queue", len(m.ready), q.Len())
	c.is("ShuttingDown", m.closed, q.ShuttingDown())
}
