package reports

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/informersim/informersim/sim"
)

// renewals folds what clients do when nothing happens: watches end by their timeout and are opened again, bookmarks arrive, and Leases are
// renewed and read. An hour of that is one line for each client and resource, or Lease.
type renewals struct {
	of      map[request]watched
	leases  map[request]string // what comes of requests for Leases that have no answer yet
	pending []Line             // as they would be told one by one
	counts  []renewal
}

// watched is a watch.
type watched struct {
	resource string
	renewal  bool // it went on from a revision
}

// renewal counts what a client renews.
type renewal struct {
	actor, what string
	times       int
	last        Line
}

// fewRenewals is how many lines are not worth folding.
const fewRenewals = 3

// takes reports whether a record belongs to a renewal, and notes it.
func (w *renewals) takes(r *sim.TraceRecord, line Line) bool {
	if w.of == nil {
		w.of, w.leases = map[request]watched{}, map[request]string{}
	}
	if w.lease(r, line) {
		w.pending = append(w.pending, line)
		return true
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
			w.count(line, "watch of "+of.resource+" renewed")
		}
	}
	if quiet {
		w.pending = append(w.pending, line)
	}
	return quiet
}

// lease reports whether a record is part of a Lease's renewal, or of a look at it, that succeeds: its request, its effects or its answer. Where a
// leader is elected, nearly everything is, and hides what the rest does.
func (w *renewals) lease(r *sim.TraceRecord, line Line) bool {
	answers := request{r.Actor, r.N}
	switch r.Kind {
	case "request":
		verb, name, _ := strings.Cut(r.Detail, " ")
		what := map[string]string{"get": "read", "update": "renewed", "patch": "renewed"}[verb]
		if r.Key != "leases" || what == "" {
			return false
		}
		w.leases[answers] = "leases " + name + " " + what
		return true
	case "commit", "apply":
		return strings.HasPrefix(r.Key, "leases ") && r.Detail == "MODIFIED"
	case "page":
		n, err := strconv.ParseInt(strings.TrimPrefix(strings.SplitN(r.Detail, " ", 2)[0], "request="), 10, 64)
		if err != nil {
			return false
		}
		answers.n = n
	case "response":
	default:
		return false
	}
	what, is := w.leases[answers]
	delete(w.leases, answers)
	if !is || r.Kind == "response" && !strings.HasPrefix(r.Detail, "2") {
		return false
	}
	w.count(line, what)
	return true
}

func (w *renewals) count(line Line, what string) {
	for i := range w.counts {
		if c := &w.counts[i]; c.actor == line.Actor && c.what == what {
			c.times++
			c.last = line
			return
		}
	}
	w.counts = append(w.counts, renewal{line.Actor, what, 1, line})
}

// fold returns the lines for what was noted, and starts over.
func (w *renewals) fold() []Line {
	lines := w.pending
	if len(lines) > fewRenewals && len(w.counts) > 0 {
		lines = nil
		for _, c := range w.counts {
			c.last.Text = fmt.Sprintf("%d × %s", c.times, c.what)
			lines = append(lines, c.last)
		}
		slices.SortStableFunc(lines, func(a, b Line) int { return cmp.Compare(a.Step, b.Step) })
	}
	w.pending, w.counts = nil, nil
	return lines
}
