package fakeapiserver

import "time"

// Distortion makes the fake apiserver break its own rules, so that a test can show that checks of a server find it. The fields that
// are nil change nothing.
type Distortion struct {
	// Event returns what a watch of that client sends in place of an event.
	Event func(client string, e Event) []Event
	// Page changes the answer to a list.
	Page func(*Page)
	// Lifetime returns how long a watch lasts that was to last d.
	Lifetime func(d time.Duration) time.Duration
}

// Distort makes the server break its rules from now on. It is a test's double, like those of a stack's parts: nothing else calls it.
func (c *Cluster) Distort(d Distortion) { c.distortion = d }

// distort delivers what the distortion makes of an event.
func (s *stream) distort(display string, e *Event) {
	c := s.call
	for _, sent := range c.client.cluster.distortion.Event(c.client.name, *e) {
		if c.state == stateOpen {
			s.hand(display, &sent)
		}
	}
}
