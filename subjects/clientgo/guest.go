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

// never is closed by nobody. It is made outside of all bubbles.
var never = make(chan struct{})

// Abandon ends the run with an error although goroutines in the bubble would go on for ever, as a ticker's loop does. The
// bubble is frozen: its caller, which does not return, waits for something outside, so no time passes in it any more. Its
// goroutines stay as they are; other runs can follow.
func (b *Bubble) Abandon(err error) {
	j, h := b.b.job, &theHost
	j.restore()
	h.current.Store(nil)
	h.frozen = true // read by the next run, which begins after this one's end was received
	j.done <- err
	<-never
}
