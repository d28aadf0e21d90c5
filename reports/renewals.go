package reports

import (
	"fmt"
	"strings"

	"github.com/informersim/informersim/sim"
)

// renewals folds what clients do when nothing happens: watches end by their timeout and are opened again, and bookmarks arrive. An hour
// of that is one line for each client and resource.
type renewals struct {
	of      map[request]watched
	pending []Line // as they would be told one by one
	counts  []renewal
}

// watched is a watch.
type watched struct {
	resource string
	renewal  bool // it went on from a revision
}

// renewal counts the renewals of a client's watches of a resource.
type renewal struct {
	actor, resource string
	times           int
	last            Line
}

// fewRenewals is how many lines are not worth folding.
const fewRenewals = 3

// takes reports whether a record belongs to a renewal, and notes it.
func (w *renewals) takes(r *sim.TraceRecord, line Line) bool {
	if w.of == nil {
		w.of = map[request]watched{}
	}
	q := request{r.Actor, r.N}
	of := w.of[q]
	quiet := false
	switch r.Kind {
	case "request":
		if strings.HasPrefix(r.Detail, "watch") {
			of = watched{r.Key, !strings.Contains(r.Detail, "sendInitialEvents")}
			w.of[q] = of
			quiet = of.renewal
		}
	case "response":
		quiet = of.renewal && strings.HasPrefix(r.Detail, "2")
	case "frame":
		quiet = r.Detail == "BOOKMARK"
	case "apply":
		quiet = r.Detail == "PROGRESS"
	case "watch-closed":
		delete(w.of, q)
		if quiet = r.Detail == "timeout"; quiet {
			w.count(line, of.resource)
		}
	}
	if quiet {
		w.pending = append(w.pending, line)
	}
	return quiet
}

func (w *renewals) count(line Line, resource string) {
	for i := range w.counts {
		if c := &w.counts[i]; c.actor == line.Actor && c.resource == resource {
			c.times++
			c.last = line
			return
		}
	}
	w.counts = append(w.counts, renewal{line.Actor, resource, 1, line})
}

// fold returns the lines for what was noted, and starts over.
func (w *renewals) fold() []Line {
	lines := w.pending
	if len(lines) > fewRenewals && len(w.counts) > 0 {
		lines = nil
		for _, c := range w.counts {
			c.last.Text = fmt.Sprintf("%d × watch of %s renewed", c.times, c.resource)
			lines = append(lines, c.last)
		}
	}
	w.pending, w.counts = nil, nil
	return lines
}
