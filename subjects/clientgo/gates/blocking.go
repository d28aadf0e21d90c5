package gates

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/informersim/informersim/bubble"
)

// errBlocked ends the run: nothing more can be asked of the informer.
var errBlocked = errors.New("a call of the informer does not return")

// call makes a call of a running informer that may wait for its goroutines, as AddEventHandler does until a listener has taken what the store
// holds. On the bubble's own goroutine, one that never returns would be the end of all steps: the others would go on, with no kernel to stop them.
// So it has a goroutine of its own, and is told as Blocked if the others come to rest before it returns.
func (i *informer) call(what string, f func() error) error {
	if i.queue == nil { // it has not started: nothing to wait for
		return f()
	}
	c := &apart{f: f}
	go c.run()
	i.g.b.Quiesce()
	if c.returned {
		return c.err
	}
	c.blocked = true
	i.g.say(Event{What: Blocked, Of: i.n, Key: fmt.Sprintf("%s does not return: it waits for what nothing else will do, %s", what, i.g.where(".(*apart).run"))})
	return errBlocked
}

// apart is a call on a goroutine of its own.
type apart struct {
	f                 func() error
	err               error
	returned, blocked bool
}

func (c *apart) run() {
	defer func() {
		if c.blocked {
			_ = recover() // what blocks there may panic when the informer stops, and has been told of
		}
	}()
	c.err = c.f()
	c.returned = true
}

// loopBlocked describes where the loop of an informer's controller is if it is anywhere but at its gate now that all goroutines rest, "" if it is
// there, or has ended: of a panic, which is told of elsewhere. It is called with the gates' mu held.
func (i *informer) loopBlocked() string {
	if i.loop.parked || i.loop.Err() != nil || i.g.late == i {
		return ""
	}
	return i.g.where(loopName)
}

// where describes the goroutine that is in a function, by the end of its name; "" if none is.
func (g *Gates) where(function string) string {
	for _, r := range g.b.Goroutines() {
		if slices.ContainsFunc(r.Stack, func(f bubble.Frame) bool { return strings.HasSuffix(f.Function, function) }) {
			return r.String()
		}
	}
	return ""
}
