package properties

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/informersim/informersim/reports"
	"github.com/informersim/informersim/sim"
)

// pause is a backoff of an informer that has a latest end: jitter at most doubles it. What it has grown to is forgotten once two minutes have passed
// (I12), so one that never becomes short again shows here.
type pause struct {
	conn     *reflector
	informer string
	least    time.Duration
	after    reason
}

func (p *pause) latest() time.Duration { return p.after.at + 2*p.least }

// over reports whether the informer has made its request, or been stopped.
func (p *pause) over() bool {
	return p.conn.next.after.step != p.after.step || p.conn.next.backoff == 0
}

// begin notes the pause of the informer with this connection, if it makes one now.
func (p *backoffHonoured) begin(w World, conn sim.ActorID) {
	c := p.requests.conns.get(conn)
	n := &c.next
	if !c.began || n.backoff == 0 || n.unsure || slices.ContainsFunc(p.pauses, func(x pause) bool { return x.conn == c && !x.over() }) {
		return
	}
	name := strings.TrimPrefix(w.Kernel().ActorName(conn), "conn/")
	p.pauses, p.pending = append(p.pauses, pause{conn: c, informer: name, least: n.backoff, after: n.after}), true
}

// stepEnd judges the pauses that should have ended. Time stops at each timer of a stack, and when that of a backoff fires, the informer is due in the
// same step.
func (p *backoffHonoured) stepEnd(w World) *reports.Violation {
	kept := p.pauses[:0]
	for _, x := range p.pauses {
		if x.over() {
			continue
		}
		inf := w.Informer(x.informer)
		due, now := inf != nil && inf.Due(), w.Kernel().Elapsed()
		switch {
		case now > x.latest():
			return x.overdue(w, due)
		case !due:
			kept = append(kept, x)
		}
	}
	p.pauses, p.pending = kept, len(kept) > 0
	return nil
}

func (p *pause) overdue(w World, due bool) *reports.Violation {
	now := reports.Evidence{Step: w.Kernel().Steps(), At: w.Kernel().Elapsed(), Text: "but it goes on waiting"}
	if due {
		now.Text = "but only now its wait is over"
	}
	return &reports.Violation{
		Message: fmt.Sprintf("informer %s waits for more than %v after a failure, although its backoff is %v to %v", p.informer, 2*p.least, p.least, 2*p.least),
		Because: append(p.after.because(), now),
	}
}
