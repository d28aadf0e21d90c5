package clientgo

import (
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/sim"
)

// Bubble is the bubble that a run of Host is in, for programs other than this package's subject: whoever has goroutines
// there and steps a kernel on the goroutine that Host called.
type Bubble struct{ b *bubble }

// Enter makes the bubble that the caller is in that of a kernel. It fails outside of one, and in one that has a kernel.
func Enter(k *sim.Kernel) (*Bubble, error) {
	j := running()
	switch {
	case j == nil:
		return nil, errors.New("there is no bubble here: it is made by clientgo.Host")
	case j.entered || j.subject != nil:
		return nil, errors.New("this bubble has a world already: a run has one")
	}
	j.entered = true
	gates.set = nil // what a scenario has chosen for its informers
	return &Bubble{newBubble(k, j)}, nil
}

// Note ends the passing of time: something has happened that the kernel's side is to look at. Any goroutine may call it.
func (b *Bubble) Note() { b.b.note() }

// Rest waits until nothing moves in the bubble any more.
func (b *Bubble) Rest() { b.b.rest() }

// Pass lets time pass until something is noted, at most d, and returns how long it was. Nothing moves when it returns.
func (b *Bubble) Pass(d time.Duration) time.Duration { return b.b.pass(d) }

// CheckTime fails the kernel's run if the bubble's clock and the kernel's differ.
func (b *Bubble) CheckTime() { b.b.checkTime() }

// Goroutines are those of the bubble that have not ended, without the one that Host called and what waits for it.
func (b *Bubble) Goroutines() []Goroutine {
	return slices.DeleteFunc(bubbled(dump(), false), func(g Goroutine) bool { return strings.HasPrefix(g.Started, "testing/synctest.") })
}

// Abandon ends the run with an error while goroutines in the bubble go on for ever. No other run can follow in this process.
// The caller returns to Host at once.
func (b *Bubble) Abandon(err error) {
	theHost.broken = err // read by the next run, which begins after this one's end was received
	b.b.job.done <- err
}
