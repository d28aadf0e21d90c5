package dropin

import "github.com/informersim/informersim/informer"

const (
	chunkLen      = 128 // notifications in a chunk
	maxFreeChunks = 8   // free chunks kept for reuse: a listener that once stalled must not pin the memory forever
)

// backlog is an unbounded queue of notifications that is filled one by one and emptied all at once (I83). It is a list of
// reusable chunks, so that a long one is never copied.
type backlog struct {
	first, last *chunk
	free        *chunk
	freeLen     int
}

type chunk struct {
	next          *chunk
	len           int
	notifications [chunkLen]informer.Notification
}

func (b *backlog) push(n *informer.Notification) {
	c := b.last
	if c == nil || c.len == chunkLen {
		c = b.newChunk()
	}
	c.notifications[c.len] = *n
	c.len++
}

func (b *backlog) newChunk() *chunk {
	c := b.free
	if c != nil {
		b.free = c.next
		b.freeLen--
		c.next = nil
	} else {
		c = &chunk{}
	}
	if b.last == nil {
		b.first = c
	} else {
		b.last.next = c
	}
	b.last = c
	return c
}

// takeAll returns the list of chunks and leaves the backlog empty.
func (b *backlog) takeAll() *chunk {
	first := b.first
	b.first, b.last = nil, nil
	return first
}

// release takes back a list of chunks whose notifications and length were cleared.
func (b *backlog) release(c *chunk) {
	for c != nil && b.freeLen < maxFreeChunks {
		next := c.next
		c.next = b.free
		b.free = c
		b.freeLen++
		c = next
	}
}
