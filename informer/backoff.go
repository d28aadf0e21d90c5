package informer

import (
	"math"
	"time"
)

// BackoffOptions configures a Backoff. The zero value selects the parameters of client-go's Reflector (I12).
type BackoffOptions struct {
	// Initial is the first delay before jitter. 0 means 800ms.
	Initial time.Duration
	// Max caps the delay before jitter. 0 means 30s.
	Max time.Duration
	// Factor multiplies the delay after each step. 0 means 2.
	Factor float64
	// Jitter is the largest fraction of a delay that is randomly added to it. 0 means 1; negative means none.
	Jitter float64
	// Reset is the time after which the delay restarts from Initial. 0 means 2 minutes.
	Reset time.Duration
}

// Backoff yields growing, jittered delays (I12). Like client-go's, it restarts once more than Reset has passed since the
// last restart, whether or not it was used in between.
type Backoff struct {
	o     BackoffOptions
	delay time.Duration // of the next step
	steps int           // left until the delay stops growing
	since time.Time     // of the last restart
}

// NewBackoff returns a Backoff that starts at now.
func NewBackoff(o BackoffOptions, now time.Time) *Backoff {
	if o.Initial <= 0 {
		o.Initial = 800 * time.Millisecond
	}
	if o.Max <= 0 {
		o.Max = 30 * time.Second
	}
	if o.Factor <= 0 {
		o.Factor = 2
	}
	if o.Jitter == 0 {
		o.Jitter = 1
	}
	if o.Reset <= 0 {
		o.Reset = 2 * time.Minute
	}
	b := &Backoff{o: o, since: now}
	b.restart()
	return b
}

func (b *Backoff) restart() {
	b.delay = b.o.Initial
	b.steps = int(math.Ceil(float64(b.o.Max) / float64(b.o.Initial)))
}

// Next returns the delay of a step taken at now. random is a number in [0,1).
func (b *Backoff) Next(now time.Time, random float64) time.Duration {
	if now.Sub(b.since) > b.o.Reset {
		b.restart()
		b.since = now
	}
	delay := b.delay
	if b.steps > 0 {
		b.steps--
		b.delay = time.Duration(float64(delay) * b.o.Factor)
		if b.delay > b.o.Max {
			b.delay, b.steps = b.o.Max, 0
		}
	}
	if b.o.Jitter > 0 {
		delay += time.Duration(random * b.o.Jitter * float64(delay))
	}
	return delay
}
