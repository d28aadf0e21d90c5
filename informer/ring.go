package informer

// ring is an unbounded queue of notifications in one slice whose slots are reused (I83).
type ring struct {
	slots []Notification // a power of two long
	head  uint64
	tail  uint64
}

// maxIdleSlots bounds the slots that a drained ring keeps: a listener that once stalled must not pin the memory forever.
const maxIdleSlots = 1024

func (r *ring) len() int { return int(r.tail - r.head) }

// push returns the new slot for the caller to fill in place: one copy of a notification instead of two.
func (r *ring) push() *Notification {
	if r.tail-r.head == uint64(len(r.slots)) {
		r.grow()
	}
	slot := &r.slots[r.tail&uint64(len(r.slots)-1)]
	r.tail++
	return slot
}

func (r *ring) grow() {
	grown := make([]Notification, max(16, 2*len(r.slots)))
	for i, n := 0, r.head; n < r.tail; i, n = i+1, n+1 {
		grown[i] = r.slots[n&uint64(len(r.slots)-1)]
	}
	r.slots, r.head, r.tail = grown, 0, r.tail-r.head
}

// pop removes the oldest notification. The ring must not be empty.
func (r *ring) pop() {
	r.slots[r.head&uint64(len(r.slots)-1)] = Notification{}
	r.head++
	if r.head == r.tail && len(r.slots) > maxIdleSlots {
		r.slots, r.head, r.tail = nil, 0, 0
	}
}

// at returns the i-th oldest notification.
func (r *ring) at(i int) *Notification { return &r.slots[(r.head+uint64(i))&uint64(len(r.slots)-1)] }
