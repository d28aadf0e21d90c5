package library

import "k8s.io/client-go/util/workqueue"

// drainsTwice has two wait until what is being worked on is done. Both may go once it is; client-go wakes one of them (k141079). Both may go, too, once
// the queue is shut down for good.
func (c *check) drainsTwice() {
	q := workqueue.NewTyped[string]()
	q.Add("a")
	key, _ := q.Get()
	gone := make(chan struct{}, 2)
	for range cap(gone) {
		go func() {
			q.ShutDownWithDrain()
			gone <- struct{}{}
		}()
	}
	c.quiesce()
	c.is("how many of two have left the ShutDownWithDrain of a queue of which a key is worked on", 0, len(gone))
	done := c.IntN(2) == 0
	if done {
		q.Done(key)
		c.quiesce()
		c.is("whether one of two has left it once that key is done", true, len(gone) > 0)
		c.except("k141079", "how many of two have left it once that key is done", cap(gone), len(gone))
	}
	q.ShutDown()
	c.quiesce()
	c.is("how many of two have left it once the queue is shut down for good", cap(gone), len(gone))
	if !done {
		q.Done(key)
	}
}

// untaken is done with a key that nobody has taken. It is ready twice then, and a key like any other once both are done.
func (c *check) untaken() {
	q := workqueue.NewTyped[string]()
	q.Add("a")
	q.Done("a")
	for left := 2; left > 0; left-- {
		c.is("Len of a queue with a key that nobody has taken, and that is done", left, q.Len())
		if q.Len() == 0 {
			break
		}
		key, _ := q.Get()
		q.Done(key)
	}
	q.Add("a")
	c.is("Len once such a key is added again", 1, q.Len())
	q.ShutDown()
}
